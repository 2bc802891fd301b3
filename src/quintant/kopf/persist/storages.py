"""Where the progress of each handler is kept between two calls, as kopf keeps it.

In annotations, one for each handler, as JSON; older versions kept it in the status, and what they
left there is read and taken away.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

from quintant.kopf.persist.essence import Essence, drop_empty, read_json
from quintant.kopf.persist.keys import annotation_names, mark_prefix
from quintant.kopf.values.fields import (
    MISSING,
    FieldPath,
    copied,
    ensure,
    parse_field,
    remove,
    resolve,
)
from quintant.kopf.values.patch import Patch

ProgressRecord = dict[str, Any]
"""What is kept of a handler: started, stopped, delayed, purpose, retries, success, failure,
message, subrefs."""


class ProgressStorage(ABC):
    """Somewhere to keep progress."""

    @abstractmethod
    def fetch(self, *, key: str, body: Mapping[str, Any]) -> ProgressRecord | None:
        """What is kept of a handler."""

    @abstractmethod
    def store(
        self, *, key: str, record: ProgressRecord, body: Mapping[str, Any], patch: Patch
    ) -> None:
        """Have a patch keep it."""

    @abstractmethod
    def purge(self, *, key: str, body: Mapping[str, Any], patch: Patch) -> None:
        """Have a patch take it away."""

    @abstractmethod
    def touch(self, *, body: Mapping[str, Any], patch: Patch, value: str | None) -> None:
        """Have a patch change something that means nothing, or take it away."""

    def clear(self, *, essence: Essence) -> Essence:
        """The content of an object without what is kept in it."""
        return copied(essence)

    def flush(self) -> None:  # noqa: B027
        """Write what is held back; nothing is, unless a storage of your own does so."""


class AnnotationsProgressStorage(ProgressStorage):
    """In annotations."""

    def __init__(
        self,
        *,
        prefix: str = "kopf.zalando.org",
        verbose: bool = False,
        touch_key: str = "touch-dummy",
        v1: bool = True,
    ) -> None:
        if not prefix:
            raise ValueError("annotations of an operator have a prefix")
        self.prefix = prefix
        self.verbose = verbose
        self.touch_key = touch_key
        self.v1 = v1

    def fetch(self, *, key: str, body: Mapping[str, Any]) -> ProgressRecord | None:
        for path in self._paths(key, body):
            found = read_json(resolve(body, path))
            if isinstance(found, dict):
                return found
        return None

    def store(
        self, *, key: str, record: ProgressRecord, body: Mapping[str, Any], patch: Patch
    ) -> None:
        kept = {each: value for each, value in record.items() if self.verbose or value is not None}
        for path in self._paths(key, body):
            ensure(patch, path, json.dumps(kept, separators=(",", ":")))
        mark_prefix(self.prefix, body, patch)

    def purge(self, *, key: str, body: Mapping[str, Any], patch: Patch) -> None:
        for path in self._paths(key, body):
            purge_field(path, body, patch)

    def touch(self, *, body: Mapping[str, Any], patch: Patch, value: str | None) -> None:
        for path in self._paths(self.touch_key, body):
            if resolve(body, path) != value:
                ensure(patch, path, value)
                mark_prefix(self.prefix, body, patch)

    def clear(self, *, essence: Essence) -> Essence:
        cleared = super().clear(essence=essence)
        annotations = resolve(cleared, ("metadata", "annotations"), {}) or {}
        for name in [name for name in annotations if name.startswith(f"{self.prefix}/")]:
            del annotations[name]
        drop_empty(cleared)
        return cleared

    def _paths(self, key: str, body: Mapping[str, Any]) -> list[FieldPath]:
        names = annotation_names(self.prefix, key, body, older=self.v1)
        return [("metadata", "annotations", name) for name in names]


class StatusProgressStorage(ProgressStorage):
    """In a field of the status."""

    def __init__(
        self,
        *,
        name: str = "kopf",
        field: str = "status.{name}.progress",
        touch_field: str = "status.{name}.dummy",
    ) -> None:
        self.field: FieldPath = parse_field(field.format(name=name))
        self.touch_field: FieldPath = parse_field(touch_field.format(name=name))

    def fetch(self, *, key: str, body: Mapping[str, Any]) -> ProgressRecord | None:
        found = resolve(body, (*self.field, key))
        return dict(found) if isinstance(found, Mapping) else None

    def store(
        self, *, key: str, record: ProgressRecord, body: Mapping[str, Any], patch: Patch
    ) -> None:
        ensure(patch, (*self.field, key), record)

    def purge(self, *, key: str, body: Mapping[str, Any], patch: Patch) -> None:
        purge_field((*self.field, key), body, patch)

    def touch(self, *, body: Mapping[str, Any], patch: Patch, value: str | None) -> None:
        if resolve(body, self.touch_field) != value:
            ensure(patch, self.touch_field, value)

    def clear(self, *, essence: Essence) -> Essence:
        cleared = super().clear(essence=essence)
        remove(cleared, self.field)
        drop_empty(cleared)
        return cleared


class _ReadOnlyStatus(StatusProgressStorage):
    """What older versions left in the status: it is read and taken away, and none is added."""

    def store(
        self, *, key: str, record: ProgressRecord, body: Mapping[str, Any], patch: Patch
    ) -> None:
        pass

    def touch(self, *, body: Mapping[str, Any], patch: Patch, value: str | None) -> None:
        pass


class MultiProgressStorage(ProgressStorage):
    """In several places; the first that has it is believed."""

    def __init__(self, storages: Collection[ProgressStorage]) -> None:
        self.storages = storages

    def fetch(self, *, key: str, body: Mapping[str, Any]) -> ProgressRecord | None:
        found = (storage.fetch(key=key, body=body) for storage in self.storages)
        return next((each for each in found if each is not None), None)

    def store(
        self, *, key: str, record: ProgressRecord, body: Mapping[str, Any], patch: Patch
    ) -> None:
        for storage in self.storages:
            storage.store(key=key, record=record, body=body, patch=patch)

    def purge(self, *, key: str, body: Mapping[str, Any], patch: Patch) -> None:
        for storage in self.storages:
            storage.purge(key=key, body=body, patch=patch)

    def touch(self, *, body: Mapping[str, Any], patch: Patch, value: str | None) -> None:
        for storage in self.storages:
            storage.touch(body=body, patch=patch, value=value)

    def clear(self, *, essence: Essence) -> Essence:
        for storage in self.storages:
            essence = storage.clear(essence=essence)
        return essence


class SmartProgressStorage(MultiProgressStorage):
    """In annotations, and what older versions left in the status."""

    def __init__(
        self,
        *,
        name: str = "kopf",
        field: str = "status.{name}.progress",
        touch_key: str = "touch-dummy",
        touch_field: str = "status.{name}.dummy",
        prefix: str = "kopf.zalando.org",
        v1: bool = True,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            [
                AnnotationsProgressStorage(
                    prefix=prefix, verbose=verbose, touch_key=touch_key, v1=v1
                ),
                _ReadOnlyStatus(name=name, field=field, touch_field=touch_field),
            ]
        )


def purge_field(path: FieldPath, body: Mapping[str, Any], patch: Patch) -> None:
    """Have a patch take a field away: from the object, or else from the patch itself."""
    if resolve(body, path, MISSING) is not MISSING:
        ensure(patch, path, None)
    elif resolve(patch, path, MISSING) is not MISSING:
        remove(patch, path)
