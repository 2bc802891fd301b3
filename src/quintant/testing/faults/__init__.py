"""Faults between a client and its server, on purpose."""
