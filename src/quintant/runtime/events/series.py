"""Event aggregation (EventSeries): what becomes an Event, and when, as events.k8s.io has it.

The first occurrence of something is written at once. When the same happens again the event becomes
a series: its second occurrence is written at once too, further ones are counted here and written
every REFRESH_SECONDS, and once more when nothing has happened for IDLE_SECONDS, which ends it.
`next_step` says what an entry needs now; nothing here waits or sends.
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import Enum, auto
from hashlib import sha256
from typing import NamedTuple

from msgspec import Struct

from quintant.api.events import Event, EventSeries
from quintant.api.meta import ObjectReference
from quintant.core.clock import micro_timestamp
from quintant.core.object import Object, ObjectMeta, replace
from quintant.core.resource import resource_of

# Limits of the API, in bytes.
REASON_BYTES = 128
NOTE_BYTES = 1024
NAME_BYTES = 253
# The same happening again within this time continues a series.
IDLE_SECONDS = 6 * 60.0
# How often a series that continues is brought up to date.
REFRESH_SECONDS = 30 * 60.0
# New events per object and reason: so many at once, then one per refill.
BURST = 25
REFILL_SECONDS = 300.0
# Where events about objects without a namespace live.
DEFAULT_NAMESPACE = "default"
_STAMP_BYTES = 8


class EventKey(NamedTuple):
    """What makes two occurrences the same; the note may differ."""

    type: str
    action: str
    reason: str
    controller: str
    instance: str
    regarding: ObjectReference
    related: ObjectReference | None


class SeriesAction(Enum):
    """What an entry needs."""

    WRITE = auto()
    """The API server should hear of it now."""
    WAIT = auto()
    """Nothing before `SeriesStep.at`."""
    FORGET = auto()
    """Its series is over and written."""


class SeriesStep(NamedTuple):
    """What to do, and for WAIT until when (loop time)."""

    do: SeriesAction
    at: float = 0.0


class EventSeriesEntry(Struct):
    """One event and how often it has happened."""

    event: Event
    last_observed: float
    """Loop time of the latest occurrence."""
    last_observed_at: datetime
    """The same, on the wall clock."""
    count: int = 1
    written: int = 0
    """The count the API server knows; 0 before the event was created."""
    written_at: float = 0.0
    attempts: int = 0
    """Failures in a row to write it."""
    due: float = 0.0
    """Loop time at which it wants attention; earlier alarms for it are void."""

    def record(self, now: float, moment: datetime) -> None:
        """It has happened once more."""
        self.count += 1
        self.last_observed, self.last_observed_at = now, moment

    @property
    def current(self) -> Event:
        """The event as it should be on the server now."""
        if self.count == 1:
            return self.event
        last = micro_timestamp(self.last_observed_at)
        return replace(self.event, series=EventSeries(count=self.count, last_observed_time=last))


def next_step(entry: EventSeriesEntry, now: float) -> SeriesStep:
    """What `entry` needs now."""
    fresh = entry.count > entry.written
    over = now >= entry.last_observed + IDLE_SECONDS
    if fresh and (over or entry.written < 2 or now >= entry.written_at + REFRESH_SECONDS):
        return SeriesStep(SeriesAction.WRITE)
    if over:
        return SeriesStep(SeriesAction.FORGET)
    end = entry.last_observed + IDLE_SECONDS
    return SeriesStep(
        SeriesAction.WAIT, min(end, entry.written_at + REFRESH_SECONDS) if fresh else end
    )


class EventBudget(Struct):
    """Holds back a flood of new events about one object and reason."""

    tokens: float = BURST
    filled: float = 0.0

    def take(self, now: float) -> bool:
        """Whether one more may be written."""
        self.tokens = min(BURST, self.tokens + (now - self.filled) / REFILL_SECONDS)
        self.filled = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


def object_reference(obj: Object | ObjectReference) -> ObjectReference:
    """How an event points at an object: not at a version of it, or nothing would ever repeat."""
    if isinstance(obj, ObjectReference):
        return replace(obj, resource_version="")
    resource, meta = resource_of(type(obj)), obj.metadata
    return ObjectReference(
        api_version=resource.api_version, kind=resource.kind, name=meta.name,
        namespace=meta.namespace, uid=meta.uid,
    )  # fmt: skip


def truncate(text: str, limit: int) -> str:
    """As much of `text` as fits into `limit` bytes of UTF-8, in whole characters."""
    raw = text.encode("utf-8", "replace")
    return raw[:limit].decode("utf-8", "ignore") if len(raw) > limit else raw.decode()


def event_name(regarding: str, stamp: int) -> str:
    """A unique name: that of the object, made valid, and the time in hexadecimal."""
    tail = f".{stamp:x}"
    labels = (re.sub("[^a-z0-9]", "-", label) for label in regarding.lower().split("."))
    stem = ".".join(filter(None, (label.strip("-") for label in labels)))
    return f"{stem[: NAME_BYTES - len(tail)].rstrip('-.') or 'unnamed'}{tail}"


def identity_stamp(key: EventKey, note: str) -> int:
    """What stands for the time in the name of an event that is written once, whoever writes it."""
    identity = f"{key.regarding.uid}/{key.controller}/{key.reason}/{note}"
    return int.from_bytes(sha256(identity.encode("utf-8", "replace")).digest()[:_STAMP_BYTES])


def build_event(key: EventKey, note: str, moment: datetime, stamp: int) -> Event:
    """The event of a first occurrence."""
    namespace = key.regarding.namespace or DEFAULT_NAMESPACE
    return Event(
        metadata=ObjectMeta(name=event_name(key.regarding.name, stamp), namespace=namespace),
        event_time=micro_timestamp(moment),
        type=key.type,
        reason=key.reason,
        action=key.action,
        note=truncate(note, NOTE_BYTES),
        reporting_controller=key.controller,
        reporting_instance=key.instance,
        regarding=key.regarding,
        related=key.related,
    )
