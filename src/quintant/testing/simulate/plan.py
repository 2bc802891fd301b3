"""What happens in a simulation, and when: drawn from its seed before it begins. Pure.

Time is divided into periods. Things happen in the first part of each; what lasts ends with it. The
rest is calm, in which the operators get everything in order, and then all is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

DAY_SECONDS = 86_400.0
PERIOD_SECONDS = 6 * 3600.0
CALM_SHARE = 1 / 6
"""The part of a period that is calm: an hour of six."""
LEAST_CALM_SECONDS = 1200.0
"""What the slowest of all takes to be well again: a creation whose outcome is not known."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Something that happens again and again."""

    name: str
    every: float
    """Seconds between two of it, on average."""
    lasts: float = 0.0
    """Seconds until it is over, on average; 0 is over at once."""


@dataclass(frozen=True, slots=True, order=True)
class Planned:
    """Something that happens once."""

    at: float
    name: str
    chance: float
    """From 0 to 1: which of those that it may happen to."""
    until: float
    """When it is over."""


@dataclass(frozen=True, slots=True)
class Period:
    """A time of trouble, and one of calm."""

    begins: float
    calm: float
    """When the calm begins."""
    ends: float


def periods(seconds: float) -> list[Period]:
    """The periods of a simulation; a short one is a single period."""
    count = max(1, round(seconds / PERIOD_SECONDS))
    length = seconds / count
    calm = min(max(length * CALM_SHARE, LEAST_CALM_SECONDS), length / 2)
    return [
        Period(number * length, (number + 1) * length - calm, (number + 1) * length)
        for number in range(count)
    ]


def plan(seed: int, seconds: float, occurrences: Iterable[Occurrence]) -> list[Planned]:
    """Everything that happens, in order; what one is drawn from is nobody else's."""
    found = [
        each
        for it in occurrences
        for period in periods(seconds)
        for each in _within(period, it, Random(f"{seed} {it.name} {period.begins:.0f}"))
    ]
    return sorted(found)


def _within(period: Period, it: Occurrence, random: Random) -> Iterator[Planned]:
    at = period.begins + random.expovariate(1 / it.every)
    while at < period.calm:
        lasts = random.uniform(0.5, 1.5) * it.lasts
        yield Planned(at, it.name, random.random(), min(at + lasts, period.calm))
        at += random.expovariate(1 / it.every)
