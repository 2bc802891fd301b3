"""Consequences of a write, drawn before the next request."""
