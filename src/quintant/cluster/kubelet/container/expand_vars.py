"""expansion.Expand: `$(NAME)` in commands, arguments and values.

A reference to what is not known stays as it is, and `$$(NAME)` means the text `$(NAME)`. No shell
is involved.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_REFERENCE = re.compile(r"\$(?:(\$)|\(([^)]*)\))")


def expand(text: str, known: Mapping[str, str]) -> str:
    """A text with its references replaced."""

    def replaced(match: re.Match[str]) -> str:
        if match[1]:
            return "$"
        return known.get(match[2], match[0])

    return _REFERENCE.sub(replaced, text)


def references(text: str) -> list[str]:
    """The names that a text refers to."""
    return [match[2] for match in _REFERENCE.finditer(text) if not match[1]]


def expand_all(words: Sequence[str], known: Mapping[str, str]) -> tuple[str, ...]:
    """Words with their references replaced."""
    return tuple(expand(word, known) for word in words)
