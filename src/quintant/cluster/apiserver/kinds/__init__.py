"""What a kind is, the catalog of kinds, and objects as they are stored."""
