"""Processes of this machine."""
