"""This machine: private files, files in YAML, and loopback addresses."""
