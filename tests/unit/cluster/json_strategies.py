"""Arbitrary JSON and arbitrary structural schemas, for what must hold for all of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "apiVersion", "kind", "metadata"])
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
)

JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda below: (
        st.lists(below, max_size=4)
        | st.dictionaries(NAMES | st.text(max_size=3), below, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(NAMES, JSON, max_size=5)


def _nullable(schema: Any, nullable: bool) -> Any:
    return {**schema, "nullable": True} if nullable else schema


def _listed(items: Any, listing: str) -> Any:
    if listing == "map":
        keyed = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}
        keys = {"x-kubernetes-list-map-keys": ["a"]}
        return {"type": "array", "items": keyed, "x-kubernetes-list-type": listing, **keys}
    return {"type": "array", "items": items, "x-kubernetes-list-type": listing}


_LEAVES = st.sampled_from(
    [
        {"type": "string", "maxLength": 3, "pattern": "^a*$"},
        {"type": "string", "enum": ["a", "b"], "default": "a"},
        {"type": "string", "format": "date-time"},
        {"type": "integer", "minimum": 0, "multipleOf": 3, "default": 3},
        {"type": "integer", "format": "int32", "maximum": 9, "exclusiveMaximum": True},
        {"type": "number", "multipleOf": 0.5},
        {"type": "boolean"},
        {"x-kubernetes-int-or-string": True},
        {"x-kubernetes-preserve-unknown-fields": True},
        {"type": "string", "anyOf": [{"minLength": 1}, {"pattern": "x"}], "not": {"enum": ["c"]}},
        {"type": "integer", "oneOf": [{"minimum": 3}, {"maximum": 5}], "allOf": [{"minimum": 1}]},
        {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
    ]
)
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.builds(_nullable, _LEAVES, st.booleans()),
    lambda below: (
        st.builds(_listed, below, st.sampled_from(["atomic", "set", "map"]))
        | st.builds(
            lambda fields, required: {
                "type": "object",
                "properties": fields,
                "required": required,
                "default": {},
            },
            st.dictionaries(st.sampled_from("abc"), below, max_size=3),
            st.lists(st.sampled_from("abc"), max_size=2, unique=True),
        )
        | st.builds(lambda value: {"type": "object", "additionalProperties": value}, below)
    ),
    max_leaves=6,
)
ROOTS = st.builds(
    lambda fields: {"type": "object", "properties": fields},
    st.dictionaries(st.sampled_from("abc"), SCHEMAS, max_size=3),
)
