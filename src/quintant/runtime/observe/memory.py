"""How many bytes objects hold: a sample of them is measured, and the rest counted.

To measure all would take seconds of a loop that has other things to do. What many objects share
(interned texts, defaults) is counted once per sample, so a kind is estimated rather too high than
too low.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import msgspec

SAMPLE = 200
"""Objects of a kind that are measured."""
_SHARED = (type, bool, type(None))


def estimated_bytes(objects: Iterable[Any], count: int) -> int:
    """The bytes of `count` objects, from the first of them."""
    known: set[int] = set()
    sample = list(islice(objects, SAMPLE))
    measured = sum(held_bytes(obj, known) for obj in sample)
    return measured * count // len(sample) if sample else 0


def held_bytes(obj: Any, known: set[int]) -> int:
    """The bytes of a value and all that it holds, without what was `known` before."""
    waiting, total = [obj], 0
    while waiting:
        value = waiting.pop()
        if id(value) in known or isinstance(value, _SHARED):
            continue
        known.add(id(value))
        total += sys.getsizeof(value)
        waiting += _held(value)
    return total


def _held(value: Any) -> Iterable[Any]:
    if isinstance(value, msgspec.Struct):
        return [getattr(value, name) for name in value.__struct_fields__]
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return value
    return ()
