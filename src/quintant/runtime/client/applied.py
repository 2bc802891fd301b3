"""What was applied last, so that the same is not applied again.

A reconcile runs often and seldom finds anything to change. An apply whose body equals the last one,
on an object that nobody changed since, is not sent. The memory is small (a hash per object) and
dies with the process: after a restart each object is applied once more, which the server ignores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from quintant.runtime import codec
from quintant.runtime.object import Model, Object, ObjectMeta, replace
from quintant.runtime.resource import resource_of

# Entries of objects deleted by others are dropped when so many have gathered.
LIMIT = 100_000


class _Entry(NamedTuple):
    body: int
    uid: str
    version: str
    generation: int
    meta: int


class Applied:
    """The last body applied to each object, and the version it led to."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[Any, _Entry] = {}

    def note(self, stored: Object, body: bytes) -> None:
        """Remember that `body` led to `stored`."""
        if len(self._entries) >= LIMIT:
            self._entries.clear()
        self._entries[_key(stored)] = _entry(stored, body)

    def holds(self, current: Object, body: bytes) -> bool:
        """Whether applying `body` again would change nothing, as far as is known here."""
        last = self._entries.get(_key(current))
        if last is None or last.body != hash(body) or last.uid != current.metadata.uid:
            return False
        if last.version == current.metadata.resource_version:
            return True
        # Status writes move the version but neither generation nor the metadata we set.
        return bool(last.generation) and last == _entry(current, body)._replace(
            version=last.version
        )


def apply_body(obj: Object) -> bytes:
    """An object as server-side apply wants it: without status and what the server fills in.

    A uid stays: it is a precondition.
    """
    changes: dict[str, Any] = {"metadata": replace(_bare(obj.metadata), uid=obj.metadata.uid)}
    if getattr(obj, "status", None) is not None:
        changes["status"] = None
    return codec.encode_object(replace(obj, **changes))


def status_body(obj: Object, status: Model | Mapping[str, Any]) -> bytes:
    """A status alone, with the identity of its object."""
    resource, meta = resource_of(type(obj)), obj.metadata
    document = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": ObjectMeta(name=meta.name, namespace=meta.namespace, uid=meta.uid),
        "status": status,
    }
    return codec.encode(document)


def _bare(meta: ObjectMeta) -> ObjectMeta:
    return ObjectMeta(
        name=meta.name,
        namespace=meta.namespace,
        labels=meta.labels,
        annotations=meta.annotations,
        owner_references=meta.owner_references,
        finalizers=meta.finalizers,
    )


def _entry(obj: Object, body: bytes) -> _Entry:
    meta = obj.metadata
    return _Entry(
        hash(body),
        meta.uid,
        meta.resource_version,
        meta.generation,
        hash(codec.encode(_bare(meta))),
    )


def _key(obj: Object) -> tuple[type, str, str]:
    return type(obj), obj.metadata.namespace, obj.metadata.name
