"""The properties of a spec, read from the openAPIV3Schema of its kind.

A property of core types with a schema of its own size, such as `affinity`, is one property: what
matters there is in `values`. Of a list of objects, the first one stands for all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]
Spec = dict[str, Any]
Path = tuple[str | int, ...]
"""Where a property is: keys, and 0 for the first one of a list."""

RULES = "x-kubernetes-validations"
MOST_DEPTH = 8
"""Levels of a spec that are looked at: nobody writes deeper ones by hand."""
CORE = frozenset(
    (
        "affinity",
        "containers",
        "containerSecurityContext",
        "env",
        "ephemeralContainers",
        "imagePullSecrets",
        "initContainers",
        "livenessProbe",
        "podSecurityContext",
        "readinessProbe",
        "resources",
        "securityContext",
        "selector",
        "startupProbe",
        "tolerations",
        "topologySpreadConstraints",
        "volumeMounts",
        "volumes",
    )
)
"""Names of fields that are of core types wherever they stand."""


@dataclass(frozen=True, slots=True)
class Property:
    """One field that a user can set."""

    path: Path
    schema: Schema
    required: bool = False

    @property
    def name(self) -> str:
        """As a person writes it: `relay.targets[].url`."""
        text = "".join("[]" if isinstance(each, int) else f".{each}" for each in self.path)
        return text.removeprefix(".")

    @property
    def field(self) -> str:
        """The last name of its path."""
        return next((each for each in reversed(self.path) if isinstance(each, str)), "")

    @property
    def is_core(self) -> bool:
        """Whether it is one of core types, whatever is below it."""
        return self.field in CORE


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule in CEL, and the properties that it names."""

    text: str
    message: str
    names: tuple[Path, ...]


def spec_schema(schema: Schema) -> Schema:
    """The part of a kind's schema that users write."""
    found: Schema = schema.get("properties", {}).get("spec", {})
    return found


def properties(schema: Schema, path: Path = ()) -> Iterator[Property]:
    """Everything below a schema, those further up first in each branch."""
    if len(path) >= MOST_DEPTH:
        return
    required = schema.get("required", ())
    for name, below in schema.get("properties", {}).items():
        found = Property((*path, name), below, name in required)
        yield found
        if not found.is_core:
            yield from properties(below, found.path)
            yield from properties(below.get("items", {}), (*found.path, 0))


def is_part_of(name: str, names: Collection[str]) -> bool:
    """Whether a property is one of these, or below one."""
    return any(name == each or name.startswith((f"{each}.", f"{each}[")) for each in names)


def rules(schema: Schema, path: Path = ()) -> Iterator[Rule]:
    """Every rule of a schema that names properties."""
    for rule in schema.get(RULES, ()):
        names = tuple(dict.fromkeys((*path, *each) for each in _named(rule["rule"])))
        if names:
            yield Rule(rule["rule"], rule.get("message", ""), names)
    for name, below in schema.get("properties", {}).items():
        yield from rules(below, (*path, name))


_NAMES = re.compile(r"(?<![\w.])self((?:\.[A-Za-z_]\w*)+)")


def _named(rule: str) -> Iterator[Path]:
    for match in _NAMES.finditer(rule):
        # What is called is no field: self.name.startsWith('a').
        is_call = rule[match.end() : match.end() + 1] == "("
        parts = match[1].split(".")[1:]
        if found := parts[:-1] if is_call else parts:
            yield tuple(found)


def value_at(spec: Any, path: Path) -> Any:
    """What a spec has there; None if it has nothing."""
    for each in path:
        if isinstance(each, int):
            spec = spec[each] if isinstance(spec, list) and len(spec) > each else None
        else:
            spec = spec.get(each) if isinstance(spec, dict) else None
    return spec


def with_value(spec: Any, path: Path, value: Any, schema: Schema) -> Any:
    """A spec with another value there; what is missing above it is made, None takes it away."""
    if not path:
        return value
    head, *rest = path
    below = _below(schema, head)
    if isinstance(head, int):
        items = list(spec) if isinstance(spec, list) and spec else [minimal(below)]
        return [with_value(items[0], tuple(rest), value, below), *items[1:]]
    made = dict(spec) if isinstance(spec, dict) else minimal(schema)
    if not isinstance(made, dict):
        made = {}
    if value is None and not rest:
        made.pop(head, None)
        return made
    if value is None and head not in made:
        return made
    made[head] = with_value(made.get(head), tuple(rest), value, below)
    return made


def _below(schema: Schema, key: str | int) -> Schema:
    found: Schema = (
        schema.get("items", {}) if isinstance(key, int) else schema.get("properties", {}).get(key)
    ) or {}
    return found


def minimal(schema: Schema) -> Any:
    """The least value of a schema: what is required, and nothing else."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            inner = schema.get("properties", {})
            return {name: minimal(inner.get(name, {})) for name in schema.get("required", ())}
        case "array":
            return [minimal(schema.get("items", {})) for _ in range(schema.get("minItems", 0))]
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return True
        case "string":
            return _text(schema)
    return 1


def _text(schema: Schema) -> str:
    if schema.get("format") == "duration":
        return "30s"
    if schema.get("format") == "date-time":
        return "2026-01-01T00:00:00Z"
    candidates = ("a", "wss://a", "https://a", "a:80", "1", "10s", "1Gi", "/a")
    pattern = schema.get("pattern", "")
    return next((each for each in candidates if _matches(pattern, each)), "a")


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False
