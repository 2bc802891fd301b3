"""Watches: events as lines, and who gets them."""
