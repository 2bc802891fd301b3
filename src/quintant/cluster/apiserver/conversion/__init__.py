"""Conversion of built-in kinds between the version they are stored as and the others."""
