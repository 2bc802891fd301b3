"""Namespaces: what each begins with, and how one ends."""
