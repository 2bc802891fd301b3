"""Where a reflector reports to: one state when it is complete, then one change after another.

All methods are synchronous: no reader ever sees half a change, and no buffer grows in between.
"""

from __future__ import annotations

from typing import Generic, Protocol

from msgspec import Raw, Struct, field

from quintant.core.errors import Undecodable
from quintant.core.object import K, ObjectMeta, Request
from quintant.runtime.watch.watch_events import ForeignEvent, UndecodableEvent
from quintant.runtime.watch.watch_states import WatchOutcome


class InitialState(Struct, Generic[K]):
    """The whole state of a scope, while it is collected and when it is complete."""

    objects: dict[Request, K] = field(default_factory=dict)
    undecodable: dict[Request, UndecodableEvent] = field(default_factory=dict)
    """Objects that are there and do not fit; a key may have an older object that did."""
    foreign: dict[Request, str] = field(default_factory=dict)
    """Objects that other members hold, with the uids of their controllers."""
    gained: frozenset[Request] = frozenset()
    """Objects that others held until now: they were there before, and are no news."""
    version: str = ""

    def has(self, key: Request) -> bool:
        """Whether an object is there, whoever's it is."""
        return key in self.objects or key in self.undecodable or key in self.foreign

    def put(self, obj: K) -> None:
        """Note that an object is there."""
        key = obj.key
        self.objects[key] = obj
        self.undecodable.pop(key, None)
        self.foreign.pop(key, None)

    def drop(self, key: Request) -> None:
        """Note that an object is gone."""
        self.objects.pop(key, None)
        self.undecodable.pop(key, None)
        self.foreign.pop(key, None)

    def put_foreign(self, event: ForeignEvent) -> None:
        """Note that an object is there, or gone, that another member holds."""
        self.drop(event.key)
        if not event.deleted:
            self.foreign[event.key] = event.controller

    def put_undecodable(self, event: UndecodableEvent) -> None:
        """Note that an object is there, or gone, and does not fit."""
        key = Request(event.meta.name, event.meta.namespace)
        if event.deleted:
            self.drop(key)
        else:
            self.undecodable[key] = event


class ReflectorTarget(Protocol[K]):
    """Who keeps what a reflector sees."""

    def replace(self, namespace: str, state: InitialState[K]) -> None:
        """The whole state of the scope, read again."""

    def upsert(self, obj: K) -> None:
        """An object is there, new or changed."""

    def delete(self, obj: K) -> None:
        """An object is gone, or left the selection."""

    def report_undecodable(self, error: Undecodable, meta: ObjectMeta, *, deleted: bool) -> None:
        """An object does not fit its type."""

    def report_restart(self, outcome: WatchOutcome) -> bool:
        """The connection ended, and why; whether that is no trouble, as of a kind that may miss."""


class LineSkimmer(Protocol):
    """Tells what is left to other members from what is decoded, by a look at its metadata."""

    def event(self, line: bytes) -> ForeignEvent | None:
        """What a line of a watch says of an object that is left to others; None of any other."""

    def item(self, raw: bytes | Raw) -> ForeignEvent | None:
        """An object of a list that is left to others; None for any other."""


class PartialTarget(Protocol):
    """Who keeps a part of what a reflector sees, and of the rest that it is there."""

    @property
    def skimmer(self) -> LineSkimmer: ...

    def note_foreign(self, event: ForeignEvent) -> None:
        """An object that is left to others was changed, or is gone."""
