"""Printer columns: what `kubectl get` shows of a custom kind.

The server prints nothing for a path that leads nowhere; here such a path is a ConfigError, found by
following it through the schema, which also gives the column's type.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from quintant.core.errors import ConfigError
from quintant.core.object import ObjectMeta
from quintant.core.resource import Column
from quintant.core.schema.constraints import INT_OR_STRING, PRESERVE, Schema
from quintant.core.schema.openapi import model_schema

# A name (dots inside it escaped), a quoted name in brackets, or an index or filter in brackets.
_STEP = re.compile(r"\.((?:\\.|[^.\[\]\\])+)|\['([^']+)'\]|\[([^\]]*)\]")
_DATE: Schema = {"type": "string", "format": "date-time"}
_ANYTHING: Schema = {PRESERVE: True}


def printer_column(title: str, given: Column, schema: Schema) -> dict[str, Any]:
    """A printer column as the definition has it; its type is guessed unless given."""
    rest = {
        "priority": given.priority,
        "description": given.description,
        "format": given.format,
    }
    return {
        "name": title,
        "jsonPath": given.path,
        "type": given.kind or _guess(title, given.path, schema),
        **{name: value for name, value in rest.items() if value},
    }


def _guess(title: str, path: str, schema: Schema) -> str:
    node = schema | {"properties": schema["properties"] | {"metadata": _metadata()}}
    position = 0
    while position < len(path):
        step = _STEP.match(path, position)
        found = step and _below(node, step)
        if not step or found is None:
            raise ConfigError(
                f"column {title!r} has the path {path!r}",
                because=f"nothing is at {path[: step.end() if step else len(path)]!r}",
                hint="paths are written as on the wire: .status.readyReplicas",
            )
        node, position = found, step.end()
    return _printed(node)


@cache
def _metadata() -> Schema:
    schema = model_schema(ObjectMeta)
    dates = {"creationTimestamp": _DATE, "deletionTimestamp": _DATE}
    return schema | {"properties": schema["properties"] | dates}


def _below(node: Schema, step: re.Match[str]) -> Schema | None:
    name, quoted, _ = step.groups()
    if node.get(PRESERVE) and "properties" not in node:
        return _ANYTHING
    if name is None and quoted is None:
        return node.get("items")
    wanted = quoted or re.sub(r"\\(.)", r"\1", name)
    return node.get("properties", {}).get(wanted) or node.get("additionalProperties")


def _printed(node: Schema) -> str:
    if node.get("format") == "date-time":
        return "date"
    kind: str = node.get("type", "string")
    scalar = kind in ("integer", "number", "boolean") and not node.get(INT_OR_STRING)
    return kind if scalar else "string"
