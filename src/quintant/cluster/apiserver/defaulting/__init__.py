"""Defaults of built-in kinds."""
