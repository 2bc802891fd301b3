"""Whole numbers that others wrote as text: in headers, annotations, names and versions.

`str.isdigit` is true of texts that `int` refuses, such as a superscript two, and `int` refuses
texts of some thousand digits: neither is a reason for more than the number being none.
"""

from __future__ import annotations

import re

_DIGITS = re.compile("[0-9]{1,19}")
_LARGEST = 2**63 - 1
"""What fits into 64 bits with a sign."""


def parse_digits(text: str) -> int | None:
    """The number that a text of ASCII digits is; None if it is no such text, or too large."""
    number = int(text) if _DIGITS.fullmatch(text) else None
    return None if number is None or number > _LARGEST else number
