"""Whole numbers that others wrote as text: in headers, annotations, names and versions.

`str.isdigit` is true of texts that `int` refuses, such as a superscript two, and `int` refuses
texts of some thousand digits: neither is a reason for more than the number being none.
"""

from __future__ import annotations

import re

_DIGITS = re.compile("[0-9]{1,18}")
"""As many as fit into 64 bits, whichever they are."""


def parse_digits(text: str) -> int | None:
    """The number that a text of ASCII digits is; None if it is no such text, or too long."""
    return int(text) if _DIGITS.fullmatch(text) else None
