"""What changed in objects while the console runs: field, old, new, when, and by whom.

The last changes of everything are kept, bounded in bytes: where many objects change, the past is
shorter. An object is known by its uid: a namesake that comes later has a history of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from msgspec import Struct

from quintant.console.differences import differences, writer_of
from quintant.console.sources import AnyChange
from quintant.console.views import ConsoleObject
from quintant.core.clock import Clock, timestamp
from quintant.core.resource import Resource

MOST_BYTES = 8 << 20
"""Of all changes together."""
MOST_PER_OBJECT = 200
OVERHEAD = 400
"""Bytes of a change beside its texts, about."""
CREATED, DELETED = "created", "deleted"


class ChangeRecord(Struct, frozen=True):
    """One field of one object that changed."""

    number: int
    time: str
    uid: str
    resource: Resource
    namespace: str
    name: str
    field: str
    old: str
    new: str
    manager: str

    @property
    def size(self) -> int:
        """Bytes, about."""
        return OVERHEAD + len(self.field) + len(self.old) + len(self.new)


class ObjectHistory:
    """The changes of all objects, the oldest first."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._records: deque[ChangeRecord] = deque()
        self._by_uid: dict[str, deque[ChangeRecord]] = {}
        self._bytes = 0
        self._number = 0
        self._listeners: list[Callable[[], None]] = []

    def __iter__(self) -> Iterator[ChangeRecord]:
        return iter(self._records)

    def of(self, uid: str) -> list[ChangeRecord]:
        """The changes of one object, the oldest first."""
        return list(self._by_uid.get(uid, ()))

    def since(self, time: str) -> Iterator[ChangeRecord]:
        """The changes from a moment on, the newest first."""
        for record in reversed(self._records):
            if record.time < time:
                return
            yield record

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Hear of every change; call what is returned to hear no more."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def record(self, resource: Resource, change: AnyChange) -> None:
        """Take what the watch of a kind says."""
        old, new, last = change.old, change.new, change.new or change.old
        if change.initial or not isinstance(last, ConsoleObject):
            return
        if old is None or new is None:
            self._add(resource, last, "", "", DELETED if new is None else CREATED, "")
        elif old.metadata.resource_version != new.metadata.resource_version:
            for found in differences(old.plain(), new.plain()):
                manager = writer_of(found.path, new.owners)
                self._add(resource, new, found.field, found.old, found.new, manager)
        for listener in list(self._listeners):
            listener()

    def _add(
        self, resource: Resource, obj: ConsoleObject, field: str, old: str, new: str, manager: str
    ) -> None:
        self._number += 1
        meta, now = obj.metadata, timestamp(self._clock.now())
        record = ChangeRecord(
            self._number, now, meta.uid, resource, meta.namespace, meta.name, field, old, new,
            manager,
        )  # fmt: skip
        self._records.append(record)
        mine = self._by_uid.setdefault(meta.uid, deque(maxlen=MOST_PER_OBJECT))
        mine.append(record)
        self._bytes += record.size
        while self._bytes > MOST_BYTES:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        oldest = self._records.popleft()
        self._bytes -= oldest.size
        mine = self._by_uid.get(oldest.uid)
        if mine and mine[0] is oldest:
            mine.popleft()
        if mine is not None and not mine:
            del self._by_uid[oldest.uid]
