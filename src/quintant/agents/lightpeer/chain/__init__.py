"""Blocks and the chain they form, without any effect."""
