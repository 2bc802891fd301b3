"""orderedIntervals: completion indexes: sets of numbers, written as `0-2,5`, and a pod's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from quintant.cluster.common.completion_index import ANNOTATION
from quintant.core.object import Object
from quintant.wire.digits import parse_digits

"""The label and the annotation of a pod that say which index it works on."""


def index_of(pod: Object) -> int | None:
    """The index a pod works on; None if it does not say."""
    return parse_digits(pod.metadata.annotations.get(ANNOTATION, ""))


def format_indexes(indexes: Iterable[int]) -> str:
    """A set of indexes as text: three or more in a row become an interval."""
    return ",".join(part for run in _runs(sorted(set(indexes))) for part in _part(run))


def parse_indexes(text: str, completions: int) -> frozenset[int]:
    """The indexes that a text names, as far as there are such; none if it is no such text."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        text, dash, end = part.partition("-")
        first, last = parse_digits(text), parse_digits(end if dash else text)
        if first is None or last is None:
            return frozenset()
        found |= set(range(first, min(last, completions - 1) + 1))
    return frozenset(found)


def _runs(ordered: list[int]) -> Iterator[list[int]]:
    for _, run in groupby(enumerate(ordered), lambda pair: pair[1] - pair[0]):
        yield [index for _, index in run]


def _part(run: list[int]) -> Iterator[str]:
    if len(run) > 2:
        yield f"{run[0]}-{run[-1]}"
    else:
        yield from map(str, run)
