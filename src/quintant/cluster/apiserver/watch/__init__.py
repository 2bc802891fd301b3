"""Watches: which changes are told to whom, as which lines."""
