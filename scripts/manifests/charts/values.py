"""Values of a chart: what each is for, what it is unless said otherwise, and what it may be.

From the one table come `values.yaml`, `values.schema.json` and the README of a chart. No object in
the schema takes a key that it does not name: a mistyped key is refused, and nothing is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from manifests.files import HEADER
from quintant.core.yaml.dump import to_yaml

Schema = Mapping[str, Any]
_WIDTH = 100


@dataclass(frozen=True)
class Value:
    """One value."""

    about: str
    default: Any
    schema: Schema


@dataclass(frozen=True)
class Section:
    """Values under one key."""

    about: str
    values: Mapping[str, Value | Section]


def values_file(values: Section) -> str:
    """`values.yaml`: every value with its default, and what it is for above it."""
    return HEADER + "".join(_lines(values, 0))


def schema_file(values: Section) -> str:
    """`values.schema.json`: what Helm takes."""
    # Helm gives this key to a chart that is part of another.
    found = _schema(values) | {"$schema": "http://json-schema.org/draft-07/schema#"}
    found["properties"] |= {"global": {"type": "object", "description": "Helm's own."}}
    return json.dumps(found, indent=2) + "\n"


def values_table(values: Section) -> str:
    """The table of a README."""
    rows = [
        f"| `{path}` | {_shown(value.default)} | {value.about} |" for path, value in flat(values)
    ]
    return "\n".join(("| value | default | |", "|---|---|---|", *rows)) + "\n"


def flat(values: Section, path: str = "") -> Iterator[tuple[str, Value]]:
    """Every value by its path."""
    for name, found in values.values.items():
        if isinstance(found, Section):
            yield from flat(found, f"{path}{name}.")
        else:
            yield f"{path}{name}", found


def _lines(values: Section, depth: int) -> Iterator[str]:
    indent = "  " * depth
    for name, found in values.values.items():
        yield from (f"{indent}# {line}\n" for line in _wrapped(found.about, _WIDTH - len(indent)))
        if isinstance(found, Section):
            yield f"{indent}{name}:\n"
            yield from _lines(found, depth + 1)
        else:
            text = to_yaml([{name: found.default}])
            yield from (f"{indent}{line}\n" for line in text.splitlines())


def _wrapped(text: str, width: int) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + len(word) >= width:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    yield line


def _schema(values: Value | Section) -> dict[str, Any]:
    if isinstance(values, Value):
        return {"description": values.about, **values.schema}
    inner = {name: _schema(found) for name, found in values.values.items()}
    return {"description": values.about, **record(inner)}


def record(properties: Mapping[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    """An object with these keys, and no others."""
    found = {"type": "object", "additionalProperties": False, "properties": dict(properties)}
    return found | ({"required": list(required)} if required else {})


def _shown(default: Any) -> str:
    if isinstance(default, (list, dict)) and default:
        return "see [values.yaml](values.yaml)"
    return f"`{json.dumps(default)}`"
