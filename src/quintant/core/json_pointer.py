"""JSON pointers (RFC 6901): one step of them, written and read."""

from __future__ import annotations


def escape_step(key: str) -> str:
    """A key of an object as a step of a pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def unescape_step(step: str) -> str:
    """The key that a step of a pointer names."""
    return step.replace("~1", "/").replace("~0", "~")
