"""This machine: files in YAML, the removal of trees, and loopback addresses."""
