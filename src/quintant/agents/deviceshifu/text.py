"""What others wrote, made fit for a log, a status or a response: bounded, on one line. Pure."""

from __future__ import annotations

LONGEST = 256


def one_line(text: str) -> str:
    """A text in at most 256 printable characters."""
    return "".join(each if each.isprintable() else " " for each in text[:LONGEST]).strip()
