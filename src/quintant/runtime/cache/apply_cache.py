"""What was applied last, so that the same is not applied again.

A reconcile runs often and seldom finds anything to change. An apply whose body equals the last one,
on an object that has not changed since, is not sent. The memory is small (a hash per object) and
dies with the process; what an earlier one applied is in `managed_fields`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from msgspec import structs

from quintant.core import codec
from quintant.core.object import Model, Object, ObjectMeta
from quintant.core.resource import resource_of

# Entries of objects deleted by others are dropped when so many have gathered.
LIMIT = 100_000
STATUS = "status"


class _Entry(NamedTuple):
    body: int
    uid: str
    version: str
    rest: int | None
    """A hash of all that the apply may have set; None where only the version is known."""


class ApplyCache:
    """The last body applied to each object or its status, and the version it led to."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[tuple[type, str, str, str], _Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def record(self, stored: Object, body: bytes, sub: str = "") -> None:
        """Remember that `body` led to `stored`."""
        if len(self._entries) >= LIMIT:
            self._entries.clear()
        meta = stored.metadata
        self._entries[_key(stored, sub)] = _Entry(
            hash(body), meta.uid, meta.resource_version, _rest(stored, sub)
        )

    def is_unchanged(self, current: Object, body: bytes, sub: str = "") -> bool:
        """Whether applying `body` again would change nothing, as far as is known here."""
        last, meta = self._entries.get(_key(current, sub)), current.metadata
        if last is None or last.body != hash(body) or last.uid != meta.uid:
            return False
        if last.version == meta.resource_version:
            return True
        return last.rest is not None and last.rest == _rest(current, sub)

    def forget(self, obj: Object) -> None:
        """Forget an object that is gone."""
        for sub in ("", STATUS):
            self._entries.pop(_key(obj, sub), None)


def apply_body(obj: Object) -> bytes:
    """An object as server-side apply wants it: without status and what the server fills in.

    A uid stays: it is a precondition.
    """
    meta = _bare(obj.metadata, obj.metadata.uid)
    bare = structs.replace(obj, metadata=meta, **_without_status(type(obj)))  # type: ignore[type-var]
    return codec.encode_object(bare)


def status_body(kind: type[Object], meta: ObjectMeta, status: Model | Mapping[str, Any]) -> bytes:
    """A status alone, with the identity of its object."""
    resource = resource_of(kind)
    document = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": ObjectMeta(name=meta.name, namespace=meta.namespace, uid=meta.uid),
        "status": status,
    }
    return codec.encode(document)


@cache
def _without_status(kind: Any) -> dict[str, Any]:
    """The change that leaves out a kind's status: its default is the one value not sent."""
    return {each.name: each.default for each in structs.fields(kind) if each.name == STATUS}


def _bare(meta: ObjectMeta, uid: str = "") -> ObjectMeta:
    return ObjectMeta(
        name=meta.name,
        namespace=meta.namespace,
        uid=uid,
        labels=meta.labels,
        annotations=meta.annotations,
        owner_references=meta.owner_references,
        finalizers=meta.finalizers,
    )


def _rest(obj: Object, sub: str) -> int | None:
    if sub:
        return hash(codec.encode(getattr(obj, sub)))
    # Status writes move the version, but neither generation nor the metadata we set. A kind
    # without generation has no such sign.
    meta = obj.metadata
    return hash((meta.generation, codec.encode(_bare(meta)))) if meta.generation else None


def _key(obj: Object, sub: str) -> tuple[type, str, str, str]:
    return type(obj), obj.metadata.namespace, obj.metadata.name, sub
