"""Keeping a local copy of a kind true."""
