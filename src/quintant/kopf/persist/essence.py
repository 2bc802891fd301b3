"""What of an object counts as its content, and where it is kept as it was when it was last handled.

Neither status nor what the server counts is part of it; labels and annotations are, but for those
that operators keep for themselves. A field that a handler names is, wherever it is.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from quintant.kopf.persist.keys import annotation_names, foreign_prefixes, mark_prefix
from quintant.kopf.values.fields import (
    MISSING,
    FieldPath,
    FieldSpec,
    copied,
    ensure,
    parse_field,
    remove,
    resolve,
)
from quintant.kopf.values.patch import Patch

Essence = dict[str, Any]
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_SERVERS = ("apiVersion", "kind", "metadata", "status")
_OPTIONAL: tuple[FieldPath, ...] = (
    ("metadata", "annotations"),
    ("metadata", "labels"),
    ("metadata",),
    ("status",),
)


class DiffBaseStorage(ABC):
    """Where the content is kept as it was when it was last handled."""

    def __init__(self, ignored_fields: Iterable[FieldSpec] | None = None) -> None:
        self.ignored_fields: list[FieldSpec] = list(ignored_fields or ())

    def build(
        self, *, body: Mapping[str, Any], extra_fields: Iterable[FieldSpec] | None = None
    ) -> Essence:
        """The content of an object as it is now."""
        essence = {key: copied(value) for key, value in body.items() if key not in _SERVERS}
        for part in ("labels", "annotations"):
            path: FieldPath = ("metadata", part)
            if (value := resolve(body, path, MISSING)) is not MISSING:
                ensure(essence, path, copied(value))
        _drop_kept(essence)
        for extra in extra_fields or ():
            path = parse_field(extra)
            if path and (value := resolve(body, path, MISSING)) is not MISSING:
                ensure(essence, path, copied(value))
        drop_empty(essence)
        for ignored in self.ignored_fields:
            remove(essence, parse_field(ignored))
        return essence

    @abstractmethod
    def fetch(self, *, body: Mapping[str, Any]) -> Essence | None:
        """The content as it was when it was last handled; None if it never was."""

    @abstractmethod
    def store(self, *, body: Mapping[str, Any], patch: Patch, essence: Essence) -> None:
        """Have a patch keep the content."""


class AnnotationsDiffBaseStorage(DiffBaseStorage):
    """In an annotation."""

    def __init__(
        self,
        *,
        prefix: str = "kopf.zalando.org",
        key: str = "last-handled-configuration",
        ignored_fields: Iterable[FieldSpec] | None = None,
        v1: bool = True,
    ) -> None:
        super().__init__(ignored_fields)
        self.prefix = prefix
        self.key = key
        self.v1 = v1

    def build(
        self, *, body: Mapping[str, Any], extra_fields: Iterable[FieldSpec] | None = None
    ) -> Essence:
        essence = super().build(body=body, extra_fields=extra_fields)
        for name in self._names(body):
            remove(essence, ("metadata", "annotations", name))
        drop_empty(essence)
        return essence

    def fetch(self, *, body: Mapping[str, Any]) -> Essence | None:
        annotations = resolve(body, ("metadata", "annotations"), {}) or {}
        for name in self._names(body):
            found = read_json(annotations.get(name))
            if isinstance(found, dict):
                return found
        return None

    def store(self, *, body: Mapping[str, Any], patch: Patch, essence: Essence) -> None:
        text = json.dumps(essence, separators=(",", ":")) + "\n"
        for name in self._names(body):
            patch.metadata.annotations[name] = text
        mark_prefix(self.prefix, body, patch)

    def _names(self, body: Mapping[str, Any]) -> list[str]:
        return annotation_names(self.prefix, self.key, body, older=self.v1)


class StatusDiffBaseStorage(DiffBaseStorage):
    """In a field of the status."""

    def __init__(
        self,
        *,
        name: str = "kopf",
        field: str = "status.{name}.last-handled-configuration",
        ignored_fields: Iterable[FieldSpec] | None = None,
    ) -> None:
        super().__init__(ignored_fields)
        self.field: FieldPath = parse_field(field.format(name=name))

    def build(
        self, *, body: Mapping[str, Any], extra_fields: Iterable[FieldSpec] | None = None
    ) -> Essence:
        essence = super().build(body=body, extra_fields=extra_fields)
        remove(essence, self.field)
        return essence

    def fetch(self, *, body: Mapping[str, Any]) -> Essence | None:
        found = read_json(resolve(body, self.field))
        return found if isinstance(found, dict) else None

    def store(self, *, body: Mapping[str, Any], patch: Patch, essence: Essence) -> None:
        ensure(patch, self.field, json.dumps(essence, separators=(",", ":")))


class MultiDiffBaseStorage(DiffBaseStorage):
    """In several places; the first that has it is believed."""

    def __init__(self, storages: Collection[DiffBaseStorage]) -> None:
        super().__init__()
        self.storages = storages

    def build(
        self, *, body: Mapping[str, Any], extra_fields: Iterable[FieldSpec] | None = None
    ) -> Essence:
        essence = super().build(body=body, extra_fields=extra_fields)
        for storage in self.storages:
            essence = storage.build(body=essence, extra_fields=extra_fields)
        return essence

    def fetch(self, *, body: Mapping[str, Any]) -> Essence | None:
        found = (storage.fetch(body=body) for storage in self.storages)
        return next((each for each in found if each is not None), None)

    def store(self, *, body: Mapping[str, Any], patch: Patch, essence: Essence) -> None:
        for storage in self.storages:
            storage.store(body=body, patch=patch, essence=essence)


def read_json(text: Any) -> Any:
    """What a text that others may have edited means; None if it means nothing."""
    if not isinstance(text, str):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def drop_empty(essence: Essence) -> None:
    """Take away what has nothing in it any more."""
    for path in _OPTIONAL:
        if not resolve(essence, path, True):
            remove(essence, path)


def _drop_kept(essence: Essence) -> None:
    """Take away the annotations that operators keep for themselves."""
    annotations = resolve(essence, ("metadata", "annotations"))
    if not isinstance(annotations, dict):
        return
    foreign = foreign_prefixes(annotations)
    for name in list(annotations):
        if name == LAST_APPLIED or name.partition("/")[0] in foreign:
            del annotations[name]
