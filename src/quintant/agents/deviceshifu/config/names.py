"""Which names instructions may have: they become paths, here and at the device. Pure."""

from __future__ import annotations

LONGEST_NAME = 253


def refusal(name: str) -> str:
    """Why a name is none for an instruction; empty if it is one."""
    if not name or len(name) > LONGEST_NAME:
        return f"a name has 1 to {LONGEST_NAME} characters"
    if not name.isprintable():
        return "a name has no control characters"
    if any(part in ("", ".", "..") for part in name.split("/")):
        return "a name has no empty part, and none that is a dot or two"
    return ""
