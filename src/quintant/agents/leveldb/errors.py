"""The one thing that goes wrong: a file does not say for certain what is asked."""

from __future__ import annotations


class Unreadable(Exception):
    """The files do not add up; the text says which and why."""
