"""The fewest and smallest steps that still differ.

First whole steps are left out, halves before single ones; then parts of what is left: members of
bodies, items of lists, query parameters.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import msgspec

from fuzz.steps import Step

Fails = Callable[[list[Step]], Awaitable[bool]]
"""Whether steps still show a difference."""


async def shrunk(steps: list[Step], fails: Fails) -> list[Step]:
    """Steps that fail, none of which can be left out or made smaller."""
    while True:
        smaller = await _smaller(steps, fails)
        if smaller is None:
            return steps
        steps = smaller


async def _smaller(steps: list[Step], fails: Fails) -> list[Step] | None:
    for candidate in _candidates(steps):
        if await fails(candidate):
            return candidate
    return None


def _candidates(steps: list[Step]) -> Iterator[list[Step]]:
    size = len(steps) // 2
    while size:
        for at in range(0, len(steps), size):
            rest = steps[:at] + steps[at + size :]
            if rest:
                yield rest
        size //= 2
    for at, step in enumerate(steps):
        for simpler in _simpler(step):
            yield [*steps[:at], simpler, *steps[at + 1 :]]


def _simpler(step: Step) -> Iterator[Step]:
    for key in step.query:
        query = {name: value for name, value in step.query.items() if name != key}
        yield msgspec.structs.replace(step, query=query)
    if step.body is not None:
        for body in _parts(step.body):
            yield msgspec.structs.replace(step, body=body)


def _parts(value: Any) -> Iterator[Any]:
    """A value without one member or item, wherever it is."""
    if isinstance(value, dict):
        for key in value:
            yield {name: below for name, below in value.items() if name != key}
        for key, below in value.items():
            for part in _parts(below):
                yield {**value, key: part}
    elif isinstance(value, list):
        for at in range(len(value)):
            yield value[:at] + value[at + 1 :]
        for at, below in enumerate(value):
            for part in _parts(below):
                yield [*value[:at], part, *value[at + 1 :]]
