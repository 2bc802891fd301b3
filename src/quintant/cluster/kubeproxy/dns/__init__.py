"""The names of services."""
