"""The order of children: by ordinal, then by name as people count, so that web-2 precedes web-10.

An ordinal is written under a key of the builder's choice, or is the number at the end of the name.
"""

from __future__ import annotations

import re
from functools import lru_cache

from quintant.core.object import Object

# An int64 has at most 19 digits; anything longer is no ordinal.
_NUMBER = re.compile(r"[0-9]{1,19}")
_SUFFIX = re.compile(r"-([0-9]{1,19})$")
_DIGITS = re.compile(r"([0-9]+)")

SortKey = tuple[int, tuple[str | int, ...], str]


def ordinal(obj: Object, key: str = "") -> int:
    """The number under `key` among annotations or labels, else at the end of the name, else 0."""
    for carrier in (obj.metadata.annotations, obj.metadata.labels):
        if _NUMBER.fullmatch(written := carrier.get(key, "")):
            return int(written)
    suffix = _SUFFIX.search(obj.metadata.name)
    return int(suffix[1]) if suffix else 0


def sort_key(obj: Object, key: str = "") -> SortKey:
    """What to sort children by: ordinal, natural name, namespace."""
    return ordinal(obj, key), natural_key(obj.metadata.name), obj.metadata.namespace


@lru_cache(8192)  # the same children are sorted in every pass
def natural_key(name: str) -> tuple[str | int, ...]:
    """A name as alternating text and numbers: comparing two counts as people do."""
    parts = _DIGITS.split(name)
    return tuple(int(part) if at % 2 else part for at, part in enumerate(parts))
