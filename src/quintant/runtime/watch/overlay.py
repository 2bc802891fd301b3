"""Read your own writes: what we wrote is visible before the watch brings it back.

A write's answer goes into the store at once, and an entry remembers which version we are ahead to
and what the watch delivered last. The entry ends when the watch catches up, when the object is
deleted, or after `EXPIRY_SECONDS`, when the delivered state is put back: better to be late than to
believe for ever in something only we have seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic

from quintant.runtime.object import K, Request
from quintant.runtime.watch.store import Store

EXPIRY_SECONDS = 10.0


@dataclass(slots=True)
class _Ahead(Generic[K]):
    version: str
    uid: str
    erased: bool
    delivered: K | None
    timer: asyncio.TimerHandle


def reached(seen: str, wanted: str) -> bool:
    """Whether version `seen` is at or past `wanted`.

    Versions are opaque to clients except here: numbers are compared as such, and anything else
    only counts when equal, so that an odd server costs an expiry and never a stale read.
    """
    if seen.isdecimal() and wanted.isdecimal():
        return int(seen) >= int(wanted)
    return seen == wanted


class Overlay(Generic[K]):
    """What this process wrote and the watch has not confirmed yet, kept inside a store."""

    def __init__(self, store: Store[K], *, hit: Callable[[], None] = lambda: None) -> None:
        self._store, self._hit = store, hit
        self._ahead: dict[Request, _Ahead[K]] = {}

    def __len__(self) -> int:
        return len(self._ahead)

    def requests(self) -> Iterable[Request]:
        """The keys of what we are ahead with."""
        return self._ahead.keys()

    def delivered(self, key: Request) -> K | None:
        """What the watch said last of an object, whatever we wrote since."""
        entry = self._ahead.get(key)
        return entry.delivered if entry else self._store.get(key)

    def wrote(self, obj: K) -> None:
        """Show an object that the server has just stored for us."""
        current, meta = self._store.get(obj.key), obj.metadata
        if current is not None and reached(
            current.metadata.resource_version, meta.resource_version
        ):
            return
        self._expect(obj.key, meta.resource_version, meta.uid, erased=False)
        self._store.put(obj.key, obj)

    def erased(self, key: Request, uid: str) -> None:
        """Hide an object that the server has just deleted for us."""
        current = self._store.get(key)
        if current is None or (uid and current.metadata.uid != uid):
            return
        meta = current.metadata
        self._expect(key, meta.resource_version, meta.uid, erased=True)
        self._store.remove(key)

    def confirm(self, obj: K) -> None:
        """Take what the watch says of an object; our own write stays if it is newer."""
        entry = self._ahead.get(obj.key)
        if entry is None:
            self._store.put(obj.key, obj)
            return
        entry.delivered = obj
        self._hit()
        if self._behind(entry, obj):
            return
        self._forget(obj.key)
        self._store.put(obj.key, obj)

    def gone(self, key: Request, uid: str) -> None:
        """Take the watch's word that an object was deleted; a newer namesake of ours stays."""
        entry = self._ahead.get(key)
        if entry is not None and not entry.erased and entry.uid != uid:
            entry.delivered = None
            return
        self._forget(key)
        self._store.remove(key)

    def missing(self, key: Request, version: str) -> None:
        """An object is not in a list read at `version`; what we wrote after that stays."""
        entry = self._ahead.get(key)
        if entry is not None and not reached(version, entry.version):
            entry.delivered = None
            return
        self._forget(key)
        self._store.remove(key)

    def close(self) -> None:
        """Forget everything, and every timer."""
        for key in tuple(self._ahead):
            self._forget(key)

    def _behind(self, entry: _Ahead[K], obj: K) -> bool:
        if entry.erased:
            return obj.metadata.uid == entry.uid
        return not reached(obj.metadata.resource_version, entry.version)

    def _expect(self, key: Request, version: str, uid: str, *, erased: bool) -> None:
        delivered = self.delivered(key)
        self._forget(key)
        loop = asyncio.get_running_loop()
        timer = loop.call_later(EXPIRY_SECONDS, self._expire, key)
        self._ahead[key] = _Ahead(version, uid, erased, delivered, timer)

    def _forget(self, key: Request) -> None:
        entry = self._ahead.pop(key, None)
        if entry is not None:
            entry.timer.cancel()

    def _expire(self, key: Request) -> None:
        entry = self._ahead.pop(key)
        if entry.delivered is None:
            self._store.remove(key)
        else:
            self._store.put(key, entry.delivered)
