"""Caches of which a process holds its own part only: that of the ranges it has."""
