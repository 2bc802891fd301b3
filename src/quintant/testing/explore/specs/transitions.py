"""The ways to a value of a property and back: what users do to one field, one after the other.

    unset → set → changed → removed → as before      quantities up and down, enum by enum,
    as before → refused → set → refused → as before  lists that grow and shrink

Each is a list of specs that are applied one after the other; the one that was good comes first and
last, and is no part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from quintant.testing.explore.specs.schema import Property, Schema, Spec, with_value

IN_A_ROW = 3
"""Values that are tried in one case: more of them only hide which one it was."""


@dataclass(frozen=True, slots=True)
class SpecCase:
    """Specs that a user applies one after the other, between two times the good one."""

    specs: tuple[Spec, ...]
    about: tuple[str, ...]
    """The properties that differ from the good one."""


@dataclass(frozen=True, slots=True)
class TriedProperty:
    """A property with the values that the server takes, and those that it refuses."""

    property: Property
    taken: tuple[Any, ...] = ()
    refused: tuple[Any, ...] = ()
    removable: bool = False
    """Whether the server takes the spec without it."""


def main_case(good: Spec, schema: Schema, tried: TriedProperty) -> SpecCase | None:
    """Set, changed, removed: what every property is tried with; None if nothing is taken."""
    values: list[Any] = list(tried.taken[:2])
    if tried.removable:
        values.append(None)
    if not values:
        values = list(tried.refused[:IN_A_ROW])
    return _case(good, schema, tried.property, values) if values else None


def further_cases(good: Spec, schema: Schema, tried: TriedProperty) -> Iterator[SpecCase]:
    """All other values: those that are taken, up and down; and refusals around one that is."""
    left = tried.taken[2:]
    for at in range(0, len(left), IN_A_ROW):
        yield _case(good, schema, tried.property, left[at : at + IN_A_ROW])
    between = tried.taken[:1]
    if not tried.taken:
        # The main case has begun with these.
        yield from _refusals(good, schema, tried.property, tried.refused[IN_A_ROW:], ())
        return
    yield from _refusals(good, schema, tried.property, tried.refused, between)


def _refusals(
    good: Spec, schema: Schema, changed: Property, refused: Sequence[Any], between: Sequence[Any]
) -> Iterator[SpecCase]:
    for at in range(0, len(refused), 2):
        first, *second = refused[at : at + 2]
        yield _case(good, schema, changed, [first, *between, *second])


def _case(good: Spec, schema: Schema, changed: Property, values: Sequence[Any]) -> SpecCase:
    specs = tuple(with_value(good, changed.path, value, schema) for value in values)
    return SpecCase(specs, (changed.name,))
