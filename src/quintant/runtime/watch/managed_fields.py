"""What our field managers applied before this process began, as the server's managedFields say.

A cache holds no managedFields: they are larger than most objects, and after its first apply a
process knows by itself what it applied. Here is what bridges a restart. Of an object that is new to
a cache, the entries of our own managers are kept until they are asked for, once. Their bytes are
shared: children of one kind own the same fields, but for the uid of their owner.

An entry is good for the version it came with, and for no other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from quintant.core.codec import BROKEN
from quintant.core.object import Object, Request
from quintant.core.resource import resource_of, transform_of
from quintant.runtime.watch.applied_fields import share_fields

APPLY = "Apply"
# Field sets that are shared; beyond it they are held once more, at the price of their bytes.
SHARED = 10_000


class _Entry(msgspec.Struct, rename="camel"):
    manager: str = ""
    operation: str = ""
    api_version: str = ""
    subresource: str = ""
    fields: msgspec.Raw = msgspec.field(name="fieldsV1", default=msgspec.Raw(b"{}"))


class _Meta(msgspec.Struct):
    managed: tuple[_Entry, ...] = msgspec.field(name="managedFields", default=())


class _Managed(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class _Event(msgspec.Struct):
    object: _Managed


class AppliedFields(NamedTuple):
    """The fields that one manager applied to an object or to a subresource of it."""

    manager: str
    subresource: str
    fields: bytes


# How the line of an object that is new begins, as every server writes it.
_ADDED = b'{"type":"ADDED"'

_object = msgspec.json.Decoder(_Managed)
_event = msgspec.json.Decoder(_Event)


class FieldManagers:
    """The field managers of this process, whose entries are worth keeping."""

    def __init__(self) -> None:
        self._marks: dict[str, bytes] = {}

    def add(self, manager: str) -> None:
        """Keep the entries of one more."""
        self._marks[manager] = msgspec.json.encode(manager)

    def __contains__(self, manager: object) -> bool:
        return manager in self._marks

    def mentioned(self, raw: bytes) -> bool:
        """Whether one of them may be in these bytes: most objects are ruled out at a glance."""
        return any(mark in raw for mark in self._marks.values())


class ManagedFieldsStore:
    """What our managers own of the objects of one cache."""

    def __init__(
        self,
        kind: type[Object],
        managers: FieldManagers,
        cached: Callable[[Request], object | None],
    ) -> None:
        self._version = resource_of(kind).api_version
        self._written = transform_of(kind) is None
        """A view that is made of what is read is never written."""
        self._managers, self._cached = managers, cached
        self.held: dict[str, tuple[str, tuple[AppliedFields, ...]]] = {}
        """Version and entries of each object, by its uid, until they are asked for."""
        self._shared: dict[tuple[AppliedFields, ...], tuple[AppliedFields, ...]] = {}

    def __len__(self) -> int:
        return len(self.held)

    def record_object(self, obj: Object, raw: bytes) -> None:
        """Look into the JSON of an object that a list brought."""
        if self._wanted(obj):
            self._record(obj, self._parse(obj, raw, lambda: _object.decode(raw)))

    def record_event(self, obj: Object, line: bytes) -> None:
        """Look into the line of a watch that brought an object.

        One that is new to the cache comes as added. Where it comes otherwise, as one that did not
        fit its type before, nothing is known of it, and the next apply is sent.
        """
        if (self.held or line.startswith(_ADDED)) and self._wanted(obj):
            self._record(obj, self._parse(obj, line, lambda: _event.decode(line).object))

    def take(self, obj: Object, manager: str, subresource: str) -> bytes | None:
        """What a manager owns of an object at this very version, given once; None if unknown."""
        held = self.held.pop(obj.metadata.uid, None)
        if held is None:
            return None
        version, applied = held
        found = [each for each in applied if each[:2] == (manager, subresource)]
        if rest := tuple(each for each in applied if each not in found):
            self.held[obj.metadata.uid] = version, rest
        if not found or version != obj.metadata.resource_version:
            return None
        return found[0].fields

    def forget(self, uid: str) -> None:
        """Forget an object that is gone."""
        self.held.pop(uid, None)

    def _wanted(self, obj: Object) -> bool:
        if not self._written:
            return False
        return obj.metadata.uid in self.held or self._cached(obj.key) is None

    def _parse(
        self, obj: Object, raw: bytes, decode: Callable[[], _Managed]
    ) -> tuple[AppliedFields, ...]:
        if not self._managers.mentioned(raw):
            return ()
        try:
            managed = decode().metadata.managed
        except BROKEN:
            return ()
        return tuple(
            AppliedFields(each.manager, each.subresource, share_fields(bytes(each.fields), obj))
            for each in managed
            if each.manager in self._managers
            and (each.operation, each.api_version) == (APPLY, self._version)
        )

    def _record(self, obj: Object, applied: tuple[AppliedFields, ...]) -> None:
        if not applied:
            self.forget(obj.metadata.uid)
            return
        if len(self._shared) >= SHARED:
            self._shared.clear()
        shared = self._shared.setdefault(applied, applied)
        self.held[obj.metadata.uid] = obj.metadata.resource_version, shared
