"""Specs of a foreign kind: made from its definition, reached in steps, and applied at once."""
