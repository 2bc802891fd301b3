"""Joining what Go and OpenAPI say about the same types: pure data in, lines of text out.

Both are checked against each other: a field that only one of them has, or two schemas that differ
about a type they share, end the program. The table would be wrong, and nobody would notice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tables.openapi import full_name

_ENCODER = msgspec.json.Encoder(order="deterministic")
_UNIONS = "JSONSchemaPropsOr"
# What a field's default is when OpenAPI's says no more than that the Go field is no pointer.
_ZEROS: tuple[Any, ...] = ("", 0, False, {})
_MISSING = object()


def join(types: Mapping[str, Any], schemas: Mapping[str, Any], version: str) -> Iterator[bytes]:
    """The lines of the table: a header with the kinds, then a line for every message."""
    messages = types["messages"]
    facts = _gather(messages, schemas)
    yield _ENCODER.encode({"kubernetes": version, "kinds": types["kinds"]})
    for name in sorted(messages):
        fields = [_row(field, facts.get((name, field["name"]), {})) for field in messages[name]]
        yield _ENCODER.encode([name, fields, *_traits(name, schemas)])


def _traits(name: str, schemas: Mapping[str, Any]) -> list[str]:
    if _UNIONS in name:
        return ["union"]
    atomic = schemas.get(full_name(name), {}).get("x-kubernetes-map-type") == "atomic"
    return ["atomic"] if atomic else []


def _gather(messages: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    """What OpenAPI says about every field, by its message and name.

    A message that Go flattens into others has no schema of its own: the others' tell.
    """
    facts: dict[tuple[str, str], Any] = {}
    for name in messages:
        schema = schemas.get(full_name(name))
        if schema is None or _UNIONS in name:
            continue
        places = dict(_places(name, messages))
        properties = schema.get("properties", {})
        if places.keys() != properties.keys():
            raise ValueError(
                f"{name}: Go and OpenAPI differ in {places.keys() ^ properties.keys()}"
            )
        for field, owner in places.items():
            fact = _fact(properties[field]) | {"required": field in schema.get("required", ())}
            if facts.setdefault((owner, field), fact) != fact:
                raise ValueError(f"{name}.{field}: said differently of {owner}")
    return facts


def _places(name: str, messages: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every field in a message's JSON form, with the message that declares it."""
    for field in messages[name]:
        if field["name"]:
            yield field["name"], name
        else:
            yield from _places(field["type"], messages)


def _fact(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "list": schema.get("x-kubernetes-list-type", ""),
        "keys": schema.get("x-kubernetes-list-map-keys", []),
        "atomic": schema.get("x-kubernetes-map-type") == "atomic",
        "default": schema.get("default", _MISSING),
        "enum": schema.get("enum", []),
    }


def _row(field: Mapping[str, Any], fact: Mapping[str, Any]) -> list[Any]:
    traits = {**fact, "always": field["always"]}
    traits |= {"merge": field.get("merge"), "strategy": field.get("strategy")}
    if fact.get("list") == "atomic":
        del traits["list"]
    default = traits.pop("default", _MISSING)
    kept = {name: value for name, value in traits.items() if value}
    if default is not _MISSING and not (field["always"] and default in _ZEROS):
        kept["default"] = default
    return [field["name"], field["number"], field["type"], *([kept] if kept else [])]
