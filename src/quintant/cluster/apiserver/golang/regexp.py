"""regexp.MustCompile: RE2: regular expressions of users take linear time.

A real server's engine is the same family, so what one accepts and matches the other does, too;
complaints about a bad pattern are translated into its words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

PATTERNS_KEPT = 1024
"""Compiled patterns remembered: more than a cluster's definitions have."""

_WORDS = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "pattern too large - compile failed": "expression too large",
}
_LOOKBEHIND = ("(?<=", "(?<!")


class BadPattern(ValueError):
    """A text is no regular expression; it says why as a real server does."""


@lru_cache(PATTERNS_KEPT)
def matcher(pattern: str) -> Callable[[str], bool]:
    """What tells whether a pattern is found in a text; BadPattern if it is none."""
    search = _compiled(pattern).search
    return lambda text: search(text.encode()) is not None


@lru_cache(PATTERNS_KEPT)
def finder(pattern: str) -> Callable[[str], list[str]]:
    """What finds every occurrence of a pattern in a text; BadPattern if it is none."""
    occurrences = _compiled(pattern).finditer
    return lambda text: [found.group().decode() for found in occurrences(text.encode())]


def _compiled(pattern: str) -> Any:
    import re2  # costs 3 MB, and many clusters never need it

    options = re2.Options()
    options.log_errors = False
    try:
        # Bytes, because the wrapper counts the characters of every text otherwise.
        return re2.compile(pattern.encode(), options)
    except re2.error as error:
        raise BadPattern(_explained(pattern, error.args[0].decode())) from None


def _explained(pattern: str, why: str) -> str:
    if why.startswith("trailing \\"):
        return _worded("trailing backslash at end of expression", "")
    what, _, part = why.partition(": ")
    if part in _LOOKBEHIND:
        return _worded("invalid named capture", pattern[pattern.index(part) :])
    return _worded(_WORDS.get(what, what), part)


def _worded(what: str, part: str) -> str:
    return f"error parsing regexp: {what}: `{part}`"
