"""How objects look in a table: columns, and the cell of each for an object.

A `Printer` belongs to a kind. Columns with a priority are shown by `kubectl get -o wide` only, but
their cells are always there.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.response.printers.age import age

NONE = "<none>"
UNKNOWN = "<unknown>"
UNSET = "<unset>"
WIDE = 1
"""The priority of a column that is shown on request."""

Cell = Callable[[JsonObject, datetime], Any]
"""From an object and the present to what a column shows."""


class TableColumn(msgspec.Struct, frozen=True):
    """A column, and how it is filled."""

    name: str
    cell: Cell
    type: str = "string"
    format: str = ""
    priority: int = 0
    description: str = ""

    @property
    def definition(self) -> JsonObject:
        """What a table says about it."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        }


class Printer(msgspec.Struct, frozen=True):
    """The columns of a kind."""

    columns: tuple[TableColumn, ...]
    conditions: Callable[[JsonObject], list[JsonObject]] = lambda obj: []
    """What a row says about the object's end, if it has come."""

    def cells(self, obj: JsonObject, now: datetime) -> list[Any]:
        """A row of the table."""
        return [column.cell(obj, now) for column in self.columns]


def column(name: str, read: Callable[[JsonObject], Any], type: str = "string") -> TableColumn:
    """A column that does not depend on the time."""
    return TableColumn(name, lambda obj, now: read(obj), type)


def wide(name: str, read: Callable[[JsonObject], Any]) -> TableColumn:
    """A column that is shown on request."""
    return TableColumn(name, lambda obj, now: read(obj), priority=WIDE)


def metadata(obj: JsonObject) -> JsonObject:
    """The metadata of an object."""
    return part(obj, "metadata")


def spec(obj: JsonObject) -> JsonObject:
    """The spec of an object."""
    return part(obj, "spec")


def status(obj: JsonObject) -> JsonObject:
    """The status of an object."""
    return part(obj, "status")


def part(obj: JsonObject, *path: str) -> JsonObject:
    """A structure inside an object, empty if it is absent."""
    for name in path:
        obj = obj.get(name) or {}
    return obj


def joined(values: dict[str, str] | None) -> str:
    """Labels as `a=b,c=d`."""
    return ",".join(f"{key}={value}" for key, value in sorted((values or {}).items())) or NONE


NAME = TableColumn("Name", lambda obj, now: metadata(obj).get("name", ""), format="name")
AGE = TableColumn("Age", lambda obj, now: age(metadata(obj).get("creationTimestamp"), now))
CREATED = column("Created At", lambda obj: metadata(obj).get("creationTimestamp"), "date")
PLAIN = Printer((NAME, CREATED))
"""For kinds about which there is no more to say."""
