"""The images that nodes have: built without a registry, and loaded once."""
