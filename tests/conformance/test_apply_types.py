"""What is applied has to fit the types of its kind, inside what is owned as a whole, too.

And an empty map in the place of one that somebody owns.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance.target import Plural, Target, owners
from unit.cluster.api import JsonObject

TEXT = {"type": "string"}
ITEM = {"type": "object", "properties": {"x": TEXT}}
KEYED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    "items": {"type": "object", "required": ["k"], "properties": {"k": TEXT}},
}
TEXTS = {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT}
FIELDS = {
    "list": {"type": "array", "items": ITEM},
    "lists": {"type": "array", "items": {"type": "array", "items": ITEM}},
    "whole": {
        "type": "object",
        "x-kubernetes-map-type": "atomic",
        "properties": {"x": TEXT, "below": ITEM},
    },
    "inner": {
        "type": "array",
        "items": {"type": "object", "properties": {"keyed": KEYED, "texts": TEXTS}},
    },
    "map": {"type": "object", "additionalProperties": TEXT},
    "fields": ITEM,
    "nullable": {**ITEM, "nullable": True},
}
SPEC = {"type": "object", "properties": FIELDS}
SCHEMA = {"type": "object", "properties": {"spec": SPEC}}
UNDECLARED = "field not declared in schema"
NO_KEY = (
    'element 0: associative list with keys has an element that omits all key fields ["k"] '
    "(and doesn't have default values for any key fields)"
)
NO_TEXT = "expected string, got &value.valueUnstructured{Value:1}"

UNFIT: list[tuple[JsonObject, str]] = [
    ({"list": [{"x": "a", "no": 1}]}, f".spec.list[0].no: {UNDECLARED}"),
    ({"list": [{"no": None}]}, f".spec.list[0].no: {UNDECLARED}"),
    ({"lists": [[], [{"no": 1}]]}, f".spec.lists[1][0].no: {UNDECLARED}"),
    ({"whole": {"no": 1}}, f".spec.whole.no: {UNDECLARED}"),
    ({"whole": {"below": {"no": 1}}}, f".spec.whole.below.no: {UNDECLARED}"),
    ({"list": [1]}, ".spec.list[0]: expected map, got &{1}"),
    ({"list": [{"x": 1}]}, f".spec.list[0].x: {NO_TEXT}"),
    ({"whole": {"x": 1}}, f".spec.whole.x: {NO_TEXT}"),
    ({"inner": [{"texts": ["a", "a"]}]}, '.spec.inner[0].texts: duplicate entries for key [="a"]'),
    (
        {"inner": [{"keyed": [{"k": "a"}, {"k": "a"}]}]},
        '.spec.inner[0].keyed: duplicate entries for key [k="a"]',
    ),
    ({"inner": [{"keyed": [{}]}]}, f".spec.inner[0].keyed: {NO_KEY}"),
]


async def defined(target: Target) -> Plural:
    return await target.define(schema=SCHEMA)


@pytest.mark.parametrize(("spec", "why"), UNFIT, ids=str)
async def test_what_is_owned_as_a_whole_has_to_fit(
    target: Target, spec: JsonObject, why: str
) -> None:
    kind = await defined(target)
    answer = await target.apply(kind.path("a"), kind.object("a", spec=spec), "me", code=500)
    said = f"failed to create typed patch object (/a; {kind.api}, Kind=Foo): {why}"
    assert (answer["message"], "reason" in answer) == (said, False)


@pytest.mark.parametrize(
    "spec",
    [
        {"list": [{}, {"x": "a"}], "whole": {"below": {}}},
        {"lists": [[], [{"x": "a"}]], "inner": [{"keyed": [{"k": "a"}]}]},
    ],
    ids=str,
)
async def test_what_fits_is_owned_as_a_whole(target: Target, spec: JsonObject) -> None:
    kind = await defined(target)
    await target.apply(kind.path("a"), kind.object("a", spec=spec), "me", code=201, dryRun="All")


PODS: list[tuple[JsonObject, str]] = [
    ({"tolerations": [{"no": 1}]}, f".spec.tolerations[0].no: {UNDECLARED}"),
    ({"dnsConfig": {"options": [{"no": 1}]}}, f".spec.dnsConfig.options[0].no: {UNDECLARED}"),
    (
        {"securityContext": {"sysctls": [{"no": 1}]}},
        f".spec.securityContext.sysctls[0].no: {UNDECLARED}",
    ),
    (
        {"containers": [{"name": "a", "image": "i", "args": [1]}]},
        f'.spec.containers[name="a"].args[0]: {NO_TEXT}',
    ),
]


@pytest.mark.parametrize(("spec", "why"), PODS, ids=str)
async def test_a_pod_has_to_fit_inside_its_lists(
    target: Target, spec: JsonObject, why: str
) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "a", "image": "i"}], **spec},
    }
    answer = await target.apply(target.path("pods", "a"), pod, "me", code=500)
    assert answer["message"] == f"failed to create typed patch object (/a; /v1, Kind=Pod): {why}"


EMPTIED: list[tuple[JsonObject, Any, Any]] = [
    ({"nullable": {"x": "a"}}, {"nullable": {}}, {"nullable": None}),
    ({"whole": {"x": "a"}}, {"whole": {}}, {"whole": {}}),
    ({"list": [{"x": "a"}]}, {"list": []}, {"list": []}),
]


@pytest.mark.parametrize(("first", "second", "left"), EMPTIED, ids=str)
async def test_an_empty_value_over_an_owned_one_empties_it(
    target: Target, first: JsonObject, second: JsonObject, left: JsonObject
) -> None:
    kind = await defined(target)
    path = kind.path("a")
    await target.apply(path, kind.object("a", spec=first), "me", code=201)
    after = await target.apply(path, kind.object("a", spec=second), "me")
    (name,) = second
    assert {name: after.get("spec", {}).get(name)} == left
    assert owners(after) == {"me Apply": {"f:spec": {f"f:{name}": {}}}}


@pytest.mark.parametrize("empty", [{}, None], ids=str)
@pytest.mark.parametrize("name", ["map", "fields"])
async def test_a_map_that_loses_its_last_owned_field_is_null_and_refused(
    target: Target, name: str, empty: JsonObject | None
) -> None:
    kind = await defined(target)
    path, spec = kind.path("a"), {name: {"x": "a"}}
    await target.apply(path, kind.object("a", spec=spec), "me", code=201)
    answer = await target.apply(path, kind.object("a", spec={name: empty}), "me", code=422)
    said = f'spec.{name}: Invalid value: "null": spec.{name} in body must be of type object: "null"'
    assert answer["message"] == f'Foo.{kind.group} "a" is invalid: {said}'


@pytest.mark.parametrize("name", ["map", "fields", "nullable"])
async def test_an_empty_map_of_another_manager_takes_nothing_away(
    target: Target, name: str
) -> None:
    kind = await defined(target)
    path, spec = kind.path("a"), {name: {"x": "a"}}
    await target.apply(path, kind.object("a", spec=spec), "me", code=201)
    after = await target.apply(path, kind.object("a", spec={name: {}}), "other")
    assert after["spec"] == spec
    assert owners(after) == {
        "me Apply": {"f:spec": {f"f:{name}": {"f:x": {}}}},
        "other Apply": {"f:spec": {f"f:{name}": {}}},
    }


async def test_an_empty_map_over_what_was_written_takes_nothing_away(target: Target) -> None:
    kind = await defined(target)
    spec = {"map": {"a": "b"}, "fields": {"x": "a"}}
    await target.create(kind.path(), kind.object("a", spec=spec), fieldManager="writer")
    empty: JsonObject = {"map": {}, "fields": {}}
    after = await target.apply(kind.path("a"), kind.object("a", spec=empty), "me")
    assert after["spec"] == spec
    assert owners(after)["me Apply"] == {"f:spec": {"f:map": {}, "f:fields": {}}}


async def test_empty_labels_over_owned_ones_empty_them(target: Target) -> None:
    kind, labels = await defined(target), {"a": "b"}
    path = kind.path("a")
    await target.apply(path, kind.object("a", {"labels": labels}), "me", code=201)
    after = await target.apply(path, kind.object("a", {"labels": {}}), "me")
    assert "labels" not in after["metadata"]
    assert owners(after) == {"me Apply": {"f:metadata": {"f:labels": {}}}}
