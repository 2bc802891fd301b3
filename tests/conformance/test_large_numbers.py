"""Numbers beyond 2^53, and how large ones are printed: bounds of a schema are float64."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.target import Plural, Target, definition
from unit.cluster.api import CRDS, JsonObject

ODD = 2**53 + 1
"""The first whole number that no float64 is."""
HIGHEST = 2**63 - 1
FIELDS = {
    "most": {"type": "integer", "maximum": ODD},
    "least": {"type": "integer", "minimum": ODD},
    "times": {"type": "integer", "multipleOf": ODD},
    "highest": {"type": "integer", "maximum": HIGHEST},
    "number": {"type": "number", "maximum": ODD},
    "million": {"type": "number", "maximum": 1234567.5},
    "one": {"type": "number", "enum": [1e15]},
    "text": {
        "type": "number",
        "x-kubernetes-validations": [
            {"rule": f"string(self) != '{text}'"} for text in ("1e+06", "1000000", "1e+20")
        ],
    },
}
SPEC = {"type": "object", "properties": FIELDS}
NO_INTEGER = "Maximum boundary value must be of type integer (default format) in spec.highest"


async def defined(target: Target) -> Plural:
    return await target.define(schema={"type": "object", "properties": {"spec": SPEC}})


@pytest.mark.parametrize(
    ("field", "value"),
    [("most", 2**53), ("least", 2**53), ("least", ODD), ("times", 2**53), ("number", 2**53)],
)
async def test_a_bound_is_the_nearest_float(target: Target, field: str, value: Any) -> None:
    kind = await defined(target)
    made = await target.create(kind.path(), kind.object("a", spec={field: value}))
    assert made["spec"] == {field: value}


LESS, MORE = "should be less than or equal to", "should be greater than or equal to"
REFUSED: list[tuple[str, Any, str, str]] = [
    ("most", ODD, f"{ODD}", f"{LESS} {2**53}"),
    ("least", 2**53 - 1, f"{2**53 - 1}", f"{MORE} {2**53}"),
    ("times", ODD, f"{ODD}", f"should be a multiple of {2**53}"),
    ("number", ODD, f"{ODD}", f"{LESS} {2**53}"),
    ("number", 2.0**53 + 2, "9.007199254740994e+15", f"{LESS} 9.007199254740992e+15"),
    ("million", 1e9 + 0.5, "1.0000000005e+09", f"{LESS} 1.2345675e+06"),
    ("million", 10**9, "1000000000", f"{LESS} 1234567"),
]


@pytest.mark.parametrize(("field", "value", "shown", "why"), REFUSED, ids=str)
async def test_what_is_beyond_a_bound_is_refused_in_its_own_type(
    target: Target, field: str, value: Any, shown: str, why: str
) -> None:
    kind = await defined(target)
    answer = await target.create(kind.path(), kind.object("a", spec={field: value}), code=422)
    said = f"spec.{field}: Invalid value: {shown}: spec.{field} in body {why}"
    assert answer["message"] == f'Foo.{kind.group} "a" is invalid: {said}'


async def test_a_bound_that_is_no_int64_as_a_float_fits_nothing(target: Target) -> None:
    kind = await defined(target)
    answer = await target.create(kind.path(), kind.object("a", spec={"highest": 1}), code=422)
    said = f'<nil>: Invalid value: "": {NO_INTEGER}'
    assert answer["message"] == f'Foo.{kind.group} "a" is invalid: {said}'


@pytest.mark.parametrize(
    ("value", "text"), [(1000000.0, "1e+06"), (1e20, "1e+20")], ids=["million", "large"]
)
async def test_a_rule_sees_a_large_number_as_go_prints_it(
    target: Target, value: float, text: str
) -> None:
    kind = await defined(target)
    answer = await target.create(kind.path(), kind.object("a", spec={"text": value}), code=422)
    why = f"failed rule: string(self) != '{text}'"
    said = f'Foo.{kind.group} "a" is invalid: spec.text: Invalid value: {text}: {why}'
    assert answer["message"] == said


async def test_a_value_that_is_not_listed_is_printed_as_go_does(target: Target) -> None:
    kind = await defined(target)
    answer = await target.create(kind.path(), kind.object("a", spec={"one": 1234567.25}), code=422)
    said = 'spec.one: Unsupported value: 1.23456725e+06: supported values: "1000000000000000"'
    assert said in answer["message"]


def bounded(target: Target, number: str) -> bytes:
    schema: JsonObject = {"type": "object", "properties": {"a": {"type": "number", "maximum": "N"}}}
    body = json.dumps(definition(f"{target.namespace}.example.com", schema))
    return body.replace('"N"', number).encode()


@pytest.mark.parametrize(
    ("number", "stored"),
    [
        (f"{ODD}", 2**53),
        (f"-{ODD}", -(2**53)),
        (f"{HIGHEST}", 9223372036854776000),
        (f"{2**70}", 1.1805916207174113e21),
        ("1E2", 100),
    ],
)
async def test_a_definition_keeps_the_nearest_float(
    target: Target, number: str, stored: float
) -> None:
    made = await target.create(CRDS, bounded(target, number))
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["a"]["maximum"] == stored


async def test_a_bound_that_no_float_holds_is_refused(target: Target) -> None:
    number = f"1{'0' * 400}"
    answer = await target.create(CRDS, bounded(target, number), code=400)
    path = "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.maximum"
    why = f"json: cannot unmarshal number {number} into Go struct field {path} of type float64"
    assert why in answer["message"]
