"""Where a reflector reports to: one state when it is complete, then one change after another.

All methods are synchronous: no reader ever sees half a change, and no buffer grows in between.
"""

from __future__ import annotations

from typing import Generic, Protocol

from msgspec import Struct, field

from quintant.core.errors import Undecodable
from quintant.core.object import K, ObjectMeta, Request
from quintant.runtime.watch.watch_events import UndecodableEvent
from quintant.runtime.watch.watch_states import WatchOutcome


class InitialState(Struct, Generic[K]):
    """The whole state of a scope, while it is collected and when it is complete."""

    objects: dict[Request, K] = field(default_factory=dict)
    undecodable: dict[Request, UndecodableEvent] = field(default_factory=dict)
    """Objects that are there and do not fit; a key may have an older object that did."""
    version: str = ""

    def put(self, obj: K) -> None:
        """Note that an object is there."""
        key = obj.key
        self.objects[key] = obj
        self.undecodable.pop(key, None)

    def drop(self, key: Request) -> None:
        """Note that an object is gone."""
        self.objects.pop(key, None)
        self.undecodable.pop(key, None)

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
