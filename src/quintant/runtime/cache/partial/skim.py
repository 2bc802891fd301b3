"""Name, namespace and owners of an object, skimmed off its bytes: enough to leave it to others.

Most lines of a watch are about objects that other members hold. Reading so little of them costs a
half of decoding a small object, and a quarter of a pod. A bookmark, an error, a line that is odd
are never skimmed: they pass to whoever understands them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from quintant.core.codec import BROKEN
from quintant.core.object import Model, ObjectMeta, OwnerReference, Request
from quintant.core.owner import owner_uid_of
from quintant.runtime.watch.watch_events import ForeignEvent


class SkimmedMeta(Model):
    """What of metadata says whose an object is."""

    name: str = ""
    namespace: str = ""
    resource_version: str = ""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()


class Skimmed(Model):
    """An object of which nothing else was read."""

    metadata: SkimmedMeta = SkimmedMeta()


class _Line(msgspec.Struct):
    type: str
    object: Skimmed


_line = msgspec.json.Decoder(_Line)
_item = msgspec.json.Decoder(Skimmed)
_CHANGES = {"ADDED": False, "MODIFIED": False, "DELETED": True}
"""The types of events that are about one object, and whether it is gone."""


class Skimmer:
    """Finds what is left to others; `is_foreign` says so of an object's metadata.

    While `decodes` says that metadata cannot decide, or need not, nothing is skimmed.
    """

    def __init__(
        self, is_foreign: Callable[[Skimmed, Request], bool], decodes: Callable[[], bool]
    ) -> None:
        self._is_foreign, self._decodes = is_foreign, decodes

    def event(self, line: bytes) -> ForeignEvent | None:
        """What a line of a watch says of an object that is left to others; None of any other."""
        if self._decodes():
            return None
        try:
            frame = _line.decode(line)
        except BROKEN:
            return None
        deleted = _CHANGES.get(frame.type)
        return None if deleted is None else self._judged(frame.object, deleted)

    def item(self, raw: bytes | msgspec.Raw) -> ForeignEvent | None:
        """An object of a list that is left to others; None for any other."""
        if self._decodes():
            return None
        try:
            return self._judged(_item.decode(raw), False)
        except BROKEN:
            return None

    def _judged(self, skimmed: Skimmed, deleted: bool) -> ForeignEvent | None:
        meta = skimmed.metadata
        key = Request(meta.name, meta.namespace)
        if meta.name and meta.resource_version and self._is_foreign(skimmed, key):
            uid = owner_uid_of(skimmed)  # type: ignore[arg-type]  # it reads metadata alone
            return ForeignEvent(key, uid, meta.resource_version, deleted)
        return None


def skim(meta: ObjectMeta) -> Skimmed:
    """What would be skimmed off an object with this metadata."""
    return Skimmed(
        metadata=SkimmedMeta(
            name=meta.name,
            namespace=meta.namespace,
            resource_version=meta.resource_version,
            labels=meta.labels,
            annotations=meta.annotations,
            owner_references=meta.owner_references,
        )
    )
