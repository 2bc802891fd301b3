"""additionalPrinterColumns: printer columns of custom resources, by their definition."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from quintant.cluster.apiserver.golang.printing import encoded, number
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.response.printers import NAME, Cell, Printer, TableColumn
from quintant.cluster.apiserver.response.printers.age import INVALID, age
from quintant.cluster.apiserver.response.printers.jsonpath import compile_path, find

NO_VALUE = "<no value>"
_AGE: Mapping[str, Any] = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
_ABOUT = "Custom resource definition column (in JSONPath format): "


def custom_printer(declared: Mapping[str, Any]) -> Printer:
    """The printer of a version of a definition; name and age if it asks for nothing."""
    columns = declared.get("additionalPrinterColumns") or (_AGE,)
    return Printer((NAME, *(_column(each) for each in columns)))


def _column(column: Mapping[str, Any]) -> TableColumn:
    path = column.get("jsonPath", "")
    return TableColumn(
        column["name"],
        _reader(column["type"], path),
        column["type"],
        column.get("format", ""),
        column.get("priority", 0),
        column.get("description") or f"{_ABOUT}{path}",
    )


def _reader(sort: str, path: str) -> Cell:
    try:
        steps = compile_path(path)
    except ValueError:
        # More than the subset: a definition may say it, and nothing can be shown for it.
        return lambda obj, now: None

    def read(obj: JsonObject, now: datetime) -> Any:
        found = find(obj, steps)
        return _cell(sort, found[0], now) if found else None

    return read


def _cell(sort: str, value: Any, now: datetime) -> Any:
    """A value in a column of a type; nothing if it does not fit."""
    if sort == "string":
        return _text(value)
    if sort == "boolean":
        return value if isinstance(value, bool) else None
    if sort == "date":
        return _date(value, now)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if sort == "integer" else value


def _text(value: Any) -> str:
    match value:
        case None:
            return NO_VALUE
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return number(value)
    return encoded(value)


def _date(value: Any, now: datetime) -> Any:
    if not isinstance(value, str):
        return None
    try:
        return age(value, now)
    except ValueError:
        return INVALID
