"""WatchEvent: the lines of a watch: which changes a selector lets through, bookmarks, errors.

A line is bytes, written once for all who watch the same selection; where an object has to be
converted by a webhook first, the change itself stands for its line until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.stored_json import ObjectEncoder
from quintant.cluster.apiserver.meta.selectors import EVERYTHING, Selector
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.storage.history import Change, StoredEntry

NO_ANNOTATIONS: Mapping[str, str] = {}
_NAME, _NAMESPACE = "metadata.name", "metadata.namespace"
_EVERY_OBJECT = frozenset({_NAME, _NAMESPACE})
"""What an object is selected by whatever its version."""
END_OF_REPLAY: Mapping[str, str] = {"k8s.io/initial-events-end": "true"}


WatchEvent = bytes | Change
"""A line that tells something, or, where that has to wait for a webhook, what it will tell."""


class WatchFilter(Struct, frozen=True):
    """Which changes a watcher wants, and how they are written."""

    encoder: ObjectEncoder
    namespace: str = ""
    labels: Selector = EVERYTHING
    fields: Selector = EVERYTHING

    @property
    def length(self) -> int:
        """How many requirements an entry has to meet."""
        return len(self.labels.requirements) + len(self.fields.requirements)

    @property
    def prefix(self) -> str:
        """What the keys it can match begin with."""
        return f"{self.namespace}/" if self.namespace else ""

    def matches(self, key: str, entry: StoredEntry | None) -> bool:
        """Whether an entry is wanted."""
        if entry is None or not key.startswith(self.prefix):
            return False
        return self._matches_labels(entry) and (
            not self.fields or self.fields.matches(self._fields(key, entry))
        )

    async def prepare(self, entries: Iterable[StoredEntry]) -> None:
        """Have entries converted whose fields can only then be compared."""
        convert = self.encoder.kind.strategy.conversion.convert_for_read
        if convert is not None and self._converts:
            await convert(filter(self._matches_labels, entries))

    @property
    def _converts(self) -> bool:
        """Whether a field is selected that an object has as this version shows it."""
        waits = self.encoder.kind.strategy.conversion.convert_for_read is not None
        return waits and any(each.key not in _EVERY_OBJECT for each in self.fields.requirements)

    def _matches_labels(self, entry: StoredEntry) -> bool:
        return not self.labels or self.labels.matches(entry.labels)

    def _fields(self, key: str, entry: StoredEntry) -> dict[str, str]:
        namespace, _, name = key.rpartition("/")
        values = entry.field_values
        if self._converts:
            values = stored_json.field_values_of(self.encoder.kind, entry)
        return {**values, _NAME: name, _NAMESPACE: namespace}

    def encode_event(self, change: Change) -> bytes | None:
        """The line that tells a change, or None when it is nobody's business here.

        An object that leaves the selection is told as deleted: its last wanted state, at the
        revision of the change.
        """
        before = self.matches(change.key, change.prev)
        after = self.matches(change.key, change.cur)
        if after and change.cur is not None:
            return _line(b"MODIFIED" if before else b"ADDED", self.encoder.encode(change.cur))
        if before and change.prev is not None:
            return _line(b"DELETED", self.encoder.encode(change.prev, change.rv))
        return None


def added_events(
    selection: WatchFilter, entries: Iterable[tuple[str, StoredEntry]]
) -> Iterator[WatchEvent]:
    """Lines that tell entries as if they had just been created; blank for who is not wanted."""
    for key, entry in entries:
        if selection.encoder.kind.strategy.conversion.convert_for_read is not None:
            yield Change(entry.rv, key, None, entry, 0.0)
        elif selection.matches(key, entry):
            yield _line(b"ADDED", selection.encoder.encode(entry))
        else:
            yield b""


def missed_events(selection: WatchFilter, changes: Iterable[Change]) -> Iterator[WatchEvent]:
    """Lines that tell changes of the past; blank for those that are not wanted."""
    for change in changes:
        waits = selection.encoder.kind.strategy.conversion.convert_for_read is not None
        yield change if waits else selection.encode_event(change) or b""


def bookmark_event(
    encoder: ObjectEncoder, rv: int, annotations: Mapping[str, str] = NO_ANNOTATIONS
) -> bytes:
    """A line that tells how far the stream has come."""
    return _line(b"BOOKMARK", encoder.bookmark(rv, annotations))


def error_event(error: StatusError) -> bytes:
    """A line that tells why the stream ends."""
    return _line(b"ERROR", msgspec.json.encode(error.status))


def _line(word: bytes, obj: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (word, obj)
