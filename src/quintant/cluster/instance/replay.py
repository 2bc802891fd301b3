"""A recorded cluster as it was at a revision: from lines of a file to what a server begins with.

Custom resources are stored as they were recorded, at the version that was looked at; kinds that
this server does not have are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Snapshot
from quintant.cluster.instance.recording import (
    LINE_BYTES,
    Complete,
    DamagedRecording,
    RecordedChange,
    read_header,
    read_lines,
)
from quintant.core.errors import ConfigError
from quintant.core.resource import Resource

_Key = tuple[str, str, str, str]


class RecordedCluster(Struct, frozen=True):
    """A recorded cluster at a revision."""

    objects: Snapshot
    first: int
    """The first revision that the file knows everything of."""
    last: int
    """The last one that it tells of."""
    left_out: int
    """Objects of kinds that there are none of here."""


def load_recording(path: Path, until: int | None = None) -> RecordedCluster:
    """What a cluster was at a revision, or at the end; ConfigError if a file does not tell."""
    try:
        with path.open("rb") as file:
            read_header(file.readline(LINE_BYTES))
            lines = iter(partial(file.readline, LINE_BYTES), b"")
            return _recording(path, read_lines(lines), until)
    except DamagedRecording as error:
        raise _unusable(path, str(error)) from None
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from None


def _recording(
    path: Path, lines: Iterator[RecordedChange | Complete], until: int | None
) -> RecordedCluster:
    state: dict[_Key, RecordedChange] = {}
    first, last = None, 0
    for line in lines:
        if isinstance(line, Complete):
            first = line.complete
            last = max(last, first)
            continue
        last = max(last, line.rv)
        if until is None or line.rv <= until:
            _enter(state, line)
    if first is None:
        raise DamagedRecording("it ends before all was told that was there when it began")
    if until is not None and not first <= until <= last:
        raise ConfigError(
            f"{path} does not tell what was at revision {until}",
            because=f"it tells of the revisions from {first} to {last}",
            hint="give one of those with --until",
        )
    stored, left_out = _stored(state)
    return RecordedCluster(
        _snapshot(stored, last if until is None else until), first, last, left_out
    )


def _enter(state: dict[_Key, RecordedChange], change: RecordedChange) -> None:
    before = state.get(change.key)
    if before is not None and before.rv > change.rv:
        return
    state[change.key] = change


def _stored(state: Mapping[_Key, RecordedChange]) -> tuple[list[tuple[Kind, RecordedChange]], int]:
    """What is there, with its kind; how many have none here."""
    there = [each for each in state.values() if not each.deleted]
    catalog, definitions = Catalog(builtin_kinds()), _defined(there)
    found: list[tuple[Kind, RecordedChange]] = []
    for change in there:
        kind = catalog.find(change.group, change.version, change.plural)
        if kind is None and f"{change.plural}.{change.group}" in definitions:
            kind = _custom(change.resource)
        if kind is not None:
            found.append((kind, change))
    return found, len(there) - len(found)


def _defined(changes: list[RecordedChange]) -> set[str]:
    return {
        each.object["metadata"]["name"]
        for each in changes
        if each.kind == "CustomResourceDefinition"
    }


def _custom(resource: Resource) -> Kind:
    return Kind(resource, table=resource.full_name, custom=True)


def _snapshot(stored: list[tuple[Kind, RecordedChange]], revision: int) -> Snapshot:
    """A store's contents, each object with the revision that it had."""
    # What is known of no moment is known of none that history could count on.
    store = RevisionStore(lambda: 0.0)
    for kind, change in sorted(stored, key=lambda each: each[1].rv):
        _, _, namespace, name = change.key
        content = {
            each: value
            for each, value in change.object.items()
            if each not in ("apiVersion", "kind")
        }
        try:
            entry = stored_json.pack(kind, content, change.rv)
        except (KeyError, TypeError, AttributeError, msgspec.MsgspecError):
            raise DamagedRecording(f"{change.kind} {namespace}/{name} is no object") from None
        store.revision = change.rv - 1
        store.put(store.table(kind.table), kind.key(namespace, name), entry)
    store.revision = revision
    return store.snapshot()


def _unusable(path: Path, because: str) -> ConfigError:
    return ConfigError(f"cannot replay {path}", because=because, hint="quintant record FILE")
