"""Read your own writes: what we wrote is visible before the watch brings it back.

A write's answer goes into the store at once, and an entry remembers which version we are ahead to
and what the watch delivered last. The entry of a write ends when the watch catches up or tells of a
later deletion, that of a deletion when a namesake comes; both end after `EXPIRY_SECONDS`, when the
delivered state is put back: better to be late than to believe for ever in what only we have seen.

Each event of the watch is taken for what it is worth: one that is older than what we did neither
brings back a deleted object nor takes away a newer one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Generic

from msgspec import Struct

from quintant.core.object import K, Request
from quintant.runtime.cache.indexer import Indexer

EXPIRY_SECONDS = 10.0


class _Ahead(Struct, Generic[K]):
    version: str
    """The version we wrote, or for a deletion the last one known."""
    uid: str
    erased: bool
    delivered: K | None
    timer: asyncio.TimerHandle


def version_reached(version: str, wanted: str) -> bool:
    """Whether `version` is at or past `wanted`.

    Versions are opaque to clients except here: numbers are compared as such, and anything else
    only counts when equal, so that an odd server costs an expiry and never a stale read.
    """
    if version == wanted:
        return True
    return version.isdecimal() and wanted.isdecimal() and int(version) >= int(wanted)


def version_precedes(version: str, known: str) -> bool:
    """Whether `version` is certainly older than `known`."""
    return version.isdecimal() and known.isdecimal() and int(version) < int(known)


class Overlay(Generic[K]):
    """What this process wrote and the watch has not confirmed yet, kept inside a store."""

    def __init__(self, store: Indexer[K]) -> None:
        self._store = store
        self._ahead: dict[Request, _Ahead[K]] = {}

    def __len__(self) -> int:
        return len(self._ahead)

    def __contains__(self, key: Request) -> bool:
        return key in self._ahead

    def list_keys(self) -> Collection[Request]:
        """The keys of what we are ahead with."""
        return self._ahead.keys()

    def delivered(self, key: Request) -> K | None:
        """What the watch said last of an object, whatever we wrote since."""
        entry = self._ahead.get(key)
        return entry.delivered if entry is not None else self._store.get(key)

    def record_write(self, obj: K, *, selected: bool = True) -> None:
        """Show an object that the server has just stored for us.

        With `selected=False` hide it: what we wrote took it out of the selection.
        """
        key, meta = obj.key, obj.metadata
        if self._outdated(key, meta.uid, meta.resource_version):
            return
        self._expect(key, meta.resource_version, meta.uid, erased=False)
        if selected:
            self._store.put(key, obj)
        else:
            self._store.delete(key)

    def record_delete(self, key: Request, uid: str, version: str) -> None:
        """Hide an object that the server has just deleted for us, last known at `version`.

        It is hidden also if it has not been seen here yet. An empty uid means whatever is there.
        """
        entry, current = self._ahead.get(key), self._store.get(key)
        if current is not None and current.metadata.uid == (uid or current.metadata.uid):
            uid, version = current.metadata.uid, current.metadata.resource_version
        elif not uid or (
            current is not None and not version_precedes(current.metadata.resource_version, version)
        ):
            return  # a namesake that may have come after
        elif entry is not None and version_precedes(version, entry.version):
            return  # a namesake that came and went after
        self._expect(key, version, uid, erased=True)
        self._store.delete(key)

    def observe_update(self, key: Request, obj: K) -> None:
        """Take what the watch says of an object; our own write stays if it is newer."""
        entry = self._ahead.get(key)
        if entry is not None:
            entry.delivered = obj
            if _ahead_of(entry, obj):
                return
            self._forget(key)
        self._store.put(key, obj)

    def observe_delete(self, key: Request, uid: str, version: str) -> None:
        """Take the watch's word that an object was deleted, or left the selection, at `version`.

        A namesake of ours stays, and so does an object that we wrote after that.
        """
        entry = self._ahead.get(key)
        self._withdraw(
            key,
            kept=entry is not None
            and (entry.uid != uid or version_precedes(version, entry.version)),
        )

    def observe_absence(self, key: Request, version: str) -> None:
        """An object is not in a list read at `version`; what we wrote after that stays."""
        entry = self._ahead.get(key)
        self._withdraw(key, kept=entry is not None and not version_reached(version, entry.version))

    def drop(self, key: Request) -> None:
        """Forget an object altogether: it is not followed any more."""
        self._forget(key)
        self._store.delete(key)

    def close(self) -> None:
        """Forget everything, and every timer."""
        for key in tuple(self._ahead):
            self._forget(key)

    def _withdraw(self, key: Request, *, kept: bool) -> None:
        """The watch no longer has an object; what we know of it is kept or goes with it."""
        entry = self._ahead.get(key)
        # A deletion of ours is remembered all its life: the object may only have left the
        # selection, and events from before its end may still bring it back.
        if entry is not None and (kept or entry.erased):
            entry.delivered = None
        else:
            self._forget(key)
            self._store.delete(key)

    def _outdated(self, key: Request, uid: str, version: str) -> bool:
        """Whether an answer came so late that something newer is known already."""
        entry, current = self._ahead.get(key), self._store.get(key)
        if entry is not None and (
            (entry.erased and entry.uid == uid) or version_precedes(version, entry.version)
        ):
            return True
        return current is not None and version_reached(current.metadata.resource_version, version)

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
            self._store.delete(key)
        else:
            self._store.put(key, entry.delivered)


def _ahead_of(entry: _Ahead[K], obj: K) -> bool:
    """Whether we know better than an event of the watch."""
    meta = obj.metadata
    if entry.erased:
        return meta.uid == entry.uid or version_precedes(meta.resource_version, entry.version)
    return not version_reached(meta.resource_version, entry.version)
