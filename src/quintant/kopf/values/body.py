"""An object as handlers see it: read-only, and with its usual parts within reach.

A part that is not there is an empty mapping. A body may be replaced as a whole beneath those who
hold it: daemons see each new state without being called again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quintant.kopf.values.fields import FieldPath, resolve

_EMPTY: Mapping[str, Any] = {}


class MappingView(Mapping[str, Any]):
    """What is at a path of another mapping, whenever it is looked at."""

    __slots__ = ("_path", "_source")

    def __init__(self, source: Mapping[str, Any], path: FieldPath) -> None:
        self._source, self._path = source, path

    def _content(self) -> Mapping[str, Any]:
        found = resolve(self._source, self._path, _EMPTY)
        return found if isinstance(found, Mapping) else _EMPTY

    def __getitem__(self, key: str) -> Any:
        return self._content()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content())

    def __len__(self) -> int:
        return len(self._content())

    def __repr__(self) -> str:
        return repr(dict(self._content()))


class Spec(MappingView):
    """The `spec` of an object."""


class Status(MappingView):
    """The `status` of an object."""


class Meta(MappingView):
    """The `metadata` of an object."""

    @property
    def labels(self) -> Mapping[str, str]:
        return MappingView(self, ("labels",))

    @property
    def annotations(self) -> Mapping[str, str]:
        return MappingView(self, ("annotations",))

    @property
    def uid(self) -> Any:
        return self.get("uid")

    @property
    def name(self) -> Any:
        return self.get("name")

    @property
    def namespace(self) -> Any:
        return self.get("namespace")

    @property
    def creation_timestamp(self) -> Any:
        return self.get("creationTimestamp")

    @property
    def deletion_timestamp(self) -> Any:
        return self.get("deletionTimestamp")


class Body(Mapping[str, Any]):
    """A whole object."""

    __slots__ = ("_raw",)

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self._raw = raw

    def replace(self, raw: Mapping[str, Any]) -> None:
        """Show another state of the same object from now on."""
        self._raw = raw

    @property
    def raw(self) -> Mapping[str, Any]:
        """The plain mapping beneath."""
        return self._raw

    @property
    def metadata(self) -> Meta:
        return Meta(self, ("metadata",))

    @property
    def meta(self) -> Meta:
        return self.metadata

    @property
    def spec(self) -> Spec:
        return Spec(self, ("spec",))

    @property
    def status(self) -> Status:
        return Status(self, ("status",))

    def __getitem__(self, key: str) -> Any:
        return self._raw[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __repr__(self) -> str:
        return repr(self._raw)


def object_reference(body: Mapping[str, Any]) -> dict[str, Any]:
    """How an Event names an object."""
    meta = body.get("metadata") or {}
    reference = {
        "apiVersion": body.get("apiVersion"),
        "kind": body.get("kind"),
        "name": meta.get("name"),
        "uid": meta.get("uid"),
        "namespace": meta.get("namespace"),
    }
    return {key: value for key, value in reference.items() if value}


def owner_reference(
    body: Mapping[str, Any],
    *,
    controller: bool | None = True,
    block_owner_deletion: bool | None = True,
) -> dict[str, Any]:
    """How a child names its owner."""
    meta = body.get("metadata") or {}
    reference = {
        "controller": controller,
        "blockOwnerDeletion": block_owner_deletion,
        "apiVersion": body.get("apiVersion"),
        "kind": body.get("kind"),
        "name": meta.get("name"),
        "uid": meta.get("uid"),
    }
    return {key: value for key, value in reference.items() if value is not None}


def deleting(body: Mapping[str, Any]) -> bool:
    """Whether an object is marked for deletion."""
    return bool(resolve(body, ("metadata", "deletionTimestamp")))
