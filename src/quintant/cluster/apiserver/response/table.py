"""asTable: objects as rows of a Table (meta.k8s.io): what `kubectl get` shows.

A table is a form like any other, so lists, watches and pages of them need to know nothing of it.
Columns are named once at the beginning of an answer: every table is written without them, and
`opened` puts them into the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import msgspec
from msgspec import field

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.stored_json import ObjectEncoder
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.response.printers import Printer
from quintant.cluster.apiserver.response.printers.printers import printer_of
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.core.clock import Clock, SystemClock

_TABLE = (
    b'{"kind":"Table","apiVersion":"meta.k8s.io/%b","metadata":%b,"columnDefinitions":null,'
    b'"rows":[%b]}'
)
_NO_COLUMNS = b'"columnDefinitions":null'


class Include(Enum):
    """What a row carries of its object."""

    METADATA = "Metadata"
    OBJECT = "Object"
    NONE = "None"


class TableEncoder(ObjectEncoder, frozen=True):
    """The objects of a kind as rows."""

    include: Include = Include.METADATA
    clock: Clock = field(default_factory=SystemClock)
    """What ages are counted from."""

    @property
    def is_converted(self) -> bool:
        return True

    def encode(self, entry: StoredEntry, rv: int = 0) -> bytes:
        """A table of one row."""
        shown = rv or entry.rv
        metadata = {"resourceVersion": str(shown)} if shown else {}
        return self._table(metadata, [self._row(entry, rv)])

    def encode_item(self, entry: StoredEntry) -> bytes:
        """A row."""
        return self._row(entry, 0)

    def encode_list(self, metadata: JsonObject, items: Iterable[bytes]) -> bytes:
        """A table of rows already written."""
        return self.begin(self._table(metadata, items)) + b"\n"

    def bookmark(self, rv: int, annotations: Mapping[str, str]) -> bytes:
        """A table whose only row is about nothing but a revision."""
        metadata: JsonObject = {"resourceVersion": str(rv)}
        noted = metadata | ({"annotations": annotations} if annotations else {})
        obj = {"metadata": noted}
        cells = self._printer.cells(obj, self.clock.now())
        return self._table(metadata, [_encoded(cells, self._carried(obj), [])])

    def begin(self, chunk: bytes) -> bytes:
        """The columns in the first table of an answer."""
        columns = [column.definition for column in self._printer.columns]
        named = b'"columnDefinitions":' + msgspec.json.encode(columns)
        return chunk.replace(_NO_COLUMNS, named, 1)

    @property
    def _printer(self) -> Printer:
        return printer_of(self.kind)

    def _table(self, metadata: JsonObject, rows: Iterable[bytes]) -> bytes:
        about = msgspec.json.encode(metadata)
        return _TABLE % (self.version.encode(), about, b",".join(rows))

    def _row(self, entry: StoredEntry, rv: int) -> bytes:
        obj = stored_json.unpack(self.kind, entry)
        if rv:
            obj["metadata"]["resourceVersion"] = str(rv)
        # What is stored in another shape is also shown by it: both kinds of events look alike.
        to_storage = self.kind.strategy.conversion.to_storage
        shown = obj if to_storage is None else to_storage(obj)
        cells = self._printer.cells(shown, self.clock.now())
        return _encoded(cells, self._carried(obj), self._printer.conditions(obj))

    def _carried(self, obj: JsonObject) -> Any:
        match self.include:
            case Include.NONE:
                return None
            case Include.OBJECT:
                return obj
        version = f"meta.k8s.io/{self.version}"
        about = {"kind": "PartialObjectMetadata", "apiVersion": version}
        return about | {"metadata": obj["metadata"]}


def _encoded(cells: list[Any], carried: Any, conditions: list[JsonObject]) -> bytes:
    row: JsonObject = {"cells": cells, "object": carried}
    return msgspec.json.encode(row | ({"conditions": conditions} if conditions else {}))
