"""Texts of strangers made fit for a status, an event or a log: what a program outside said."""

from __future__ import annotations

import re

LINE_LENGTH = 256
"""Characters: enough to say what is wrong, and no room for a page of HTML."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_USER = re.compile(r"://[^/@\s]*@")


def one_line(text: str, limit: int = LINE_LENGTH) -> str:
    """One short line without control characters, and without passwords in URLs."""
    return _CONTROL.sub(" ", _USER.sub("://", text)).strip()[:limit]
