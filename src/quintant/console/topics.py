"""Topics: rows by key, with a version that counts their changes.

A change is encoded once, whoever hears of it. What a topic sent lately is kept, a bounded amount of
it: a viewer that stood still for longer gets the whole state instead, so nothing waits for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

MOST_CHANGES = 256
MOST_CHANGE_BYTES = 1 << 20
"""What is kept of changes for viewers that are behind, of one topic."""

MOST_SHARED = 10_000
"""Scopes that are held once: there are as many as namespaces."""

_encode = msgspec.json.Encoder().encode


class AccessScope(NamedTuple):
    """What a viewer has to be allowed to list to see a row."""

    group: str
    plural: str
    namespace: str = ""
    """Empty is the whole cluster."""
    also: tuple[tuple[str, str], ...] = ()
    """Groups and plurals that are needed too, of a row that says something of several kinds."""


PUBLIC = AccessScope("", "")
"""Of rows that every viewer may see."""
Allowed = Callable[[AccessScope], bool]


class TopicRow(NamedTuple):
    """A row, and who may see it."""

    fields: Any
    scope: AccessScope = PUBLIC


class TopicChange(NamedTuple):
    """One change, as it is sent."""

    version: int
    event: bytes
    keys: tuple[str, ...]
    removed: Mapping[str, AccessScope]
    """Names may be secret after the end, too."""
    meta: Mapping[str, Any]


class Topic:
    """Rows that viewers follow."""

    def __init__(self, name: str, meta_scope: AccessScope = PUBLIC) -> None:
        self.name = name
        self.version: int = 0
        """Counts the changes; 0 is before the first."""
        self.meta: dict[str, Any] = {}
        self.meta_scope = meta_scope
        self._rows: dict[str, bytes] = {}
        self._scopes: dict[str, AccessScope] = {}
        self._shared: dict[AccessScope, AccessScope] = {}
        """Scopes, each held once for all rows that have it."""
        self._changes: deque[TopicChange] = deque()
        self._held_bytes = 0
        self._snapshot = b""
        """The whole state as JSON, while it is asked for again and again."""
        self._snapshot_event = b""

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def keys(self) -> list[str]:
        """The keys of all rows."""
        return list(self._rows)

    def scopes(self) -> set[AccessScope]:
        """Everything that somebody has to be allowed to list to see all of it."""
        removed = (scope for change in self._changes for scope in change.removed.values())
        return {*self._scopes.values(), *removed, self.meta_scope}

    def publish(
        self,
        rows: Mapping[str, TopicRow],
        removed: Iterable[str] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> bool:
        """Take what is new; whether anything was."""
        encoded = {key: _encode(row.fields) for key, row in rows.items()}
        new = {key: raw for key, raw in encoded.items() if self._rows.get(key) != raw}
        gone = {key: self._scopes[key] for key in removed if key in self._rows}
        fresh = {key: value for key, value in (meta or {}).items() if self.meta.get(key) != value}
        if not (new or gone or fresh) and self.version:
            return False
        for key in gone:
            del self._rows[key], self._scopes[key]
        for key, raw in new.items():
            scope = self._shared.setdefault(rows[key].scope, rows[key].scope)
            self._rows[key], self._scopes[key] = raw, scope
        if len(self._shared) > MOST_SHARED:
            self._shared.clear()
        self.meta.update(fresh)
        self._advance(new, gone, fresh)
        return True

    def replace(self, rows: Mapping[str, TopicRow], meta: Mapping[str, Any] | None = None) -> bool:
        """Take the whole state; whether anything is new."""
        return self.publish(rows, [key for key in self._rows if key not in rows], meta)

    def snapshot(self, allowed: Allowed | None = None) -> bytes:
        """The whole state as JSON; of what a viewer may see, if it may not see everything."""
        if allowed is not None:
            return self._encode_snapshot(allowed)
        if not self._snapshot:
            self._snapshot = self._encode_snapshot(lambda _: True)
        return self._snapshot

    def forget_snapshot(self) -> None:
        """Hold the whole state only once, until a viewer asks again."""
        self._snapshot = self._snapshot_event = b""

    def events_since(self, version: int, allowed: Allowed | None = None) -> bytes:
        """What brings a viewer from a version to the present one, as server-sent events.

        The changes, if all of them are still there; otherwise the whole state. 0 is a viewer that
        has nothing.
        """
        if version == self.version and version:
            return b""
        missed = [change for change in self._changes if change.version > version]
        if not version or not missed or missed[0].version != version + 1:
            return self._whole(allowed)
        if allowed is None:
            return b"".join(change.event for change in missed)
        return b"".join(self._restricted(change, allowed) for change in missed)

    def _whole(self, allowed: Allowed | None) -> bytes:
        if allowed is not None:
            return encode_event("snapshot", self.snapshot(allowed))
        if not self._snapshot_event:
            self._snapshot_event = encode_event("snapshot", self._encode_snapshot(lambda _: True))
        return self._snapshot_event

    def _advance(
        self, new: Mapping[str, bytes], gone: Mapping[str, AccessScope], fresh: Mapping[str, Any]
    ) -> None:
        self.version += 1
        self.forget_snapshot()
        event = self._encode_change(self.version, new, tuple(gone), fresh)
        self._changes.append(TopicChange(self.version, event, tuple(new), gone, fresh))
        self._held_bytes += len(event)
        while len(self._changes) > MOST_CHANGES or self._held_bytes > MOST_CHANGE_BYTES:
            self._held_bytes -= len(self._changes.popleft().event)

    def _encode_change(
        self,
        version: int,
        rows: Mapping[str, bytes],
        removed: tuple[str, ...],
        meta: Mapping[str, Any],
    ) -> bytes:
        change = {
            "topic": self.name, "version": version, "set": _raw(rows), "remove": removed,
            "meta": meta,
        }  # fmt: skip
        return encode_event("change", _encode(change))

    def _restricted(self, change: TopicChange, allowed: Allowed) -> bytes:
        """A change as a viewer sees it that may not see everything; rows as they are now."""
        seen = {
            key: self._rows[key]
            for key in change.keys
            if key in self._rows and allowed(self._scopes[key])
        }
        meta = change.meta if allowed(self.meta_scope) else {}
        removed = tuple(key for key, scope in change.removed.items() if allowed(scope))
        return self._encode_change(change.version, seen, removed, meta)

    def _encode_snapshot(self, allowed: Allowed) -> bytes:
        rows = {key: raw for key, raw in self._rows.items() if allowed(self._scopes[key])}
        meta = self.meta if allowed(self.meta_scope) else {}
        return _encode(
            {"topic": self.name, "version": self.version, "rows": _raw(rows), "meta": meta}
        )


def encode_event(name: str, data: bytes) -> bytes:
    """A server-sent event; JSON has no line breaks of its own."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)


def _raw(rows: Mapping[str, bytes]) -> dict[str, msgspec.Raw]:
    return {key: msgspec.Raw(raw) for key, raw in rows.items()}
