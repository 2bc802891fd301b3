"""Commands that run an embedded cluster."""
