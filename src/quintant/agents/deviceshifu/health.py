"""When a device has failed, and when it is back. Pure.

    PENDING --a success, nothing missed--> RUNNING
    PENDING, RUNNING --three misses of one kind in a row, or missing for 10 s--> FAILED
    FAILED --nothing missed--> RUNNING, which then stays for 5 s

Each thing that is looked at (the session, every telemetry) is counted by itself: one that always
answers does not hide another that never does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

MISSES = 3
MISSING_SECONDS = 10.0
HOLD_SECONDS = 5.0
"""After a return: a device at the edge of its reach is not told of twice a second."""


class DevicePhase(Enum):
    """What is said of a device."""

    PENDING = "Pending"
    RUNNING = "Running"
    FAILED = "Failed"


class Missed(NamedTuple):
    """Failures in a row."""

    times: int
    since: float


@dataclass(frozen=True, slots=True)
class DeviceHealth:
    """What has been seen of a device."""

    phase: DevicePhase = DevicePhase.PENDING
    missed: Mapping[str, Missed] = field(default_factory=dict)
    since: float = 0.0
    """When it came back."""
    error: str = ""
    """Of the newest failure."""


def observe(health: DeviceHealth, what: str, error: str | None, now: float) -> DeviceHealth:
    """What follows from one look: `error` says why it failed, None that it did not."""
    missed = {key: value for key, value in health.missed.items() if key != what}
    if error is not None:
        before = health.missed.get(what, Missed(0, now))
        missed[what] = Missed(before.times + 1, before.since)
    seen = replace(health, missed=missed, error=health.error if error is None else error)
    return _step(seen, now)


def only(health: DeviceHealth, kept: Collection[str]) -> DeviceHealth:
    """Without what is no longer looked at."""
    return replace(health, missed={k: v for k, v in health.missed.items() if k in kept})


def _step(health: DeviceHealth, now: float) -> DeviceHealth:
    match health.phase:
        case DevicePhase.PENDING | DevicePhase.FAILED if not health.missed:
            back = health.phase is DevicePhase.FAILED
            return replace(health, phase=DevicePhase.RUNNING, since=now if back else 0.0, error="")
        case DevicePhase.PENDING if _gone(health.missed, now):
            return replace(health, phase=DevicePhase.FAILED)
        case DevicePhase.RUNNING if _gone(health.missed, now) and not _held(health, now):
            return replace(health, phase=DevicePhase.FAILED)
    return health


def _gone(missed: Mapping[str, Missed], now: float) -> bool:
    return any(
        each.times >= MISSES or now - each.since >= MISSING_SECONDS for each in missed.values()
    )


def _held(health: DeviceHealth, now: float) -> bool:
    return bool(health.since) and now - health.since < HOLD_SECONDS
