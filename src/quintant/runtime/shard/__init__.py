"""Shards: every replica of a manager works, each on the keys that are its own."""
