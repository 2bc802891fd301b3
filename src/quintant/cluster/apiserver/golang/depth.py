"""maxNestingDepth: how deep a document may be nested, as encoding/json counts it.

Whatever looks at a document goes down into it by calling itself, so depth costs stack: a document
from outside is measured before anything else is done with it. Below the limit there is always
room; a server makes it when it starts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from quintant.core.yaml import DEEPEST

__all__ = ["DEEPEST", "FRAMES", "TooDeep", "check", "make_room"]

FRAMES = 10 * DEEPEST
"""Calls within calls that must be possible: a few per level, of a document and of its schema."""


class TooDeep(ValueError):
    """A document is nested deeper than anybody means it."""


def make_room() -> None:
    """Let this process call as deep as the deepest document needs."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), FRAMES))


def check(value: Any) -> None:
    """TooDeep if a value is nested too deep; level by level, which takes no stack."""
    level, depth = [value], 0
    while level:
        level = [child for each in level for child in _inside(each)]
        depth += 1
        if depth == DEEPEST and level:
            raise TooDeep("exceeded max depth")


def _inside(value: Any) -> Iterator[Any]:
    """The maps and lists in a value."""
    if isinstance(value, dict | list):
        children = value.values() if isinstance(value, dict) else value
        yield from (child for child in children if isinstance(child, dict | list))
