"""Where two records differ, in words a person can act on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from fuzz.player import Answer, Record

MISSING = "(nothing)"
WIDTH = 300
"""Characters shown of a value: the place says the rest."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing two servers told differently."""

    where: str
    """A step's number, or a watch."""
    lines: tuple[str, ...]
    """Place, and what each told there."""
    step: int = -1

    @property
    def sort(self) -> str:
        """What kind of difference it is: where it shows first."""
        return f"{self.where.split()[0]} {self.lines[0].partition(':')[0]}"

    def __str__(self) -> str:
        return "\n".join((self.where, *(f"  {line}" for line in self.lines)))


def difference(ours: Record, theirs: Record) -> Difference | None:
    """The first difference between normal records: of the steps, then of the watches."""
    for at, (one, other) in enumerate(zip(ours.answers, theirs.answers, strict=True)):
        if one != other:
            return Difference(f"step {at + 1}", tuple(_lines(_plain(one), _plain(other))), at)
    for watch, told in theirs.events.items():
        if ours.events[watch] != told:
            return Difference(f"watch {watch}", tuple(_lines(ours.events[watch], told)))
    return None


def _plain(answer: Answer) -> dict[str, Any]:
    return {"code": answer.code, "warnings": list(answer.warnings), "body": answer.body}


def _lines(ours: Any, theirs: Any, place: str = "") -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in dict.fromkeys((*theirs, *ours)):
            one, other = ours.get(key, MISSING), theirs.get(key, MISSING)
            yield from _lines(one, other, f"{place}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for at, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _lines(one, other, f"{place}[{at}]")
    elif ours != theirs:
        yield f"{place.lstrip('.')}: embedded {_shown(ours)}, real {_shown(theirs)}"


def _shown(value: Any) -> str:
    text = value if value is MISSING else msgspec.json.encode(value).decode()
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}…"
