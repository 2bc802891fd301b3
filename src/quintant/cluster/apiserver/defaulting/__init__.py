"""Defaults of built-in kinds: constants, rules, and the walk that brings them in."""
