"""Selecting custom resources by fields that their definition names."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.crds import fields, spec, text
from conformance.target import Plural, Target, causes, decoded, definition, until
from unit.cluster.api import CRDS, JsonObject

SCHEMA = spec(color=text(), size={"type": "integer"}, on={"type": "boolean"})
PATHS = [{"jsonPath": f".spec.{name}"} for name in ("color", "size", "on")]
DECLARED = {"selectableFields": PATHS[:1]}
SOON = 10.0


async def filled(target: Target) -> Plural:
    """Three objects: red, blue, and one of which nothing is said."""
    foos = await target.define(schema=SCHEMA, selectableFields=PATHS)
    said: dict[str, JsonObject] = {
        "a": {"color": "red", "size": 1, "on": True},
        "b": {"color": "blue", "size": 2},
        "c": {},
    }
    for name, content in said.items():
        await target.create(foos.path(), foos.object(name, spec=content))
    return foos


async def test_lists_are_selected_by_declared_fields(target: Target) -> None:
    foos = await filled(target)
    for selector, names in (
        ("spec.color=red", ["a"]),
        ("spec.color!=red", ["b", "c"]),
        ("spec.color=", ["c"]),
        ("spec.size=2", ["b"]),
        ("spec.on=true", ["a"]),
        ("spec.on=false", []),
        ("metadata.name=a,spec.color=red", ["a"]),
        (f"metadata.namespace={target.namespace}", ["a", "b", "c"]),
    ):
        assert await target.names(foos.path(), fieldSelector=selector) == names, selector
    refused = await target.get(foos.path(), code=400, fieldSelector="spec.nope=1")
    assert refused["message"] == "field label not supported: spec.nope"


async def test_watches_follow_declared_fields(target: Target) -> None:
    foos = await filled(target)
    async with target.watch(foos.path(), fieldSelector="spec.color=red") as events:
        assert await events.told(SOON) == ("ADDED", "a")
        await target.merge(foos.path("b"), {"spec": {"color": "red"}})
        assert await events.told(SOON) == ("ADDED", "b")
        await target.merge(foos.path("a"), {"spec": {"color": "blue"}})
        assert await events.told(SOON) == ("DELETED", "a")
        await target.merge(foos.path("b"), {"spec": {"size": 7}})
        assert await events.told(SOON) == ("MODIFIED", "b")
        await target.delete(foos.path("b"))
        assert await events.told(SOON) == ("DELETED", "b")


async def test_collections_are_deleted_by_declared_fields(target: Target) -> None:
    foos = await filled(target)
    await target.ask("DELETE", foos.path(), None, 200, fieldSelector="spec.color=blue")
    assert await target.names(foos.path()) == ["a", "c"]


async def test_versions_declare_fields_of_their_own(target: Target) -> None:
    group = f"{target.namespace}.example.com"
    body = definition(group, SCHEMA, selectableFields=PATHS[:1])
    (first,) = body["spec"]["versions"]
    second = {**first, "name": "v2", "storage": False, "selectableFields": PATHS[1:2]}
    body["spec"]["versions"].append(second)
    # Versions that share their schema have to share what is declared about it.
    alike = await target.create(CRDS, body, code=422)
    places = [f"spec.versions[{at}].selectableFields" for at in (0, 1)]
    assert [field for field, _ in causes(alike)] == places
    second["schema"] = {"openAPIV3Schema": spec(size={"type": "integer"})}
    apart = {**body, "spec": {**body["spec"], "versions": [first, {**second, **DECLARED}]}}
    assert causes(await target.create(CRDS, apart, code=422)) == [
        ("spec.selectableFields", "FieldValueInvalid")
    ]
    await target.create(CRDS, body)
    foos = Plural(target, group)
    await foos.served()
    await target.create(foos.path(), foos.object("a", spec={"color": "red", "size": 1}))
    other = target.path("foos", api=f"{group}/v2")
    assert await target.names(foos.path(), fieldSelector="spec.color=red") == ["a"]
    assert await target.names(other, fieldSelector="spec.size=1") == ["a"]
    await target.get(foos.path(), code=400, fieldSelector="spec.size=1")
    await target.get(other, code=400, fieldSelector="spec.color=red")


ODD = spec(list={"type": "array", "items": text()}, map=fields(), number={"type": "number"})
TYPES = "must point to a field of type string, boolean or integer."
REFUSED: list[tuple[str, str, str]] = [
    (".spec.nope", "FieldValueInvalid", "is an invalid path: does not refer to a valid field"),
    (".metadata.name", "FieldValueInvalid", "is an invalid path: does not refer to a valid field"),
    ("spec.map", "FieldValueInvalid", "is an invalid path: expected [ or . but got: spec"),
    (".spec.list[0]", "FieldValueInvalid", "is an invalid path: array notation is not allowed"),
    (".spec.list", "FieldValueInvalid", TYPES),
    (".spec.map", "FieldValueInvalid", TYPES),
    (".spec.number", "FieldValueInvalid", TYPES),
    ("", "FieldValueRequired", "Required value"),
]


@pytest.mark.parametrize(("path", "reason", "why"), REFUSED, ids=[row[0] for row in REFUSED])
async def test_fields_that_cannot_be_selected_are_refused(
    target: Target, path: str, reason: str, why: str
) -> None:
    told = await refused(target, ODD, path)
    assert causes(told) == [("spec.selectableFields[0].jsonPath", reason)]
    assert why in told["message"]


async def test_a_field_is_declared_once(target: Target) -> None:
    told = await refused(target, SCHEMA, ".spec.color", ".spec.color")
    assert causes(told) == [("spec.selectableFields[1].jsonPath", "FieldValueDuplicate")]


async def refused(target: Target, schema: JsonObject, *paths: Any) -> JsonObject:
    declared = [{"jsonPath": path} for path in paths]
    body = definition(f"{target.namespace}.example.com", schema, selectableFields=declared)
    return await target.create(CRDS, body, code=422)


async def test_selectable_fields_are_published_with_the_schema(target: Target) -> None:
    foos = await target.define(schema=SCHEMA, selectableFields=PATHS)

    async def published() -> dict[str, Any]:
        reply = await target.send("GET", f"/openapi/v3/apis/{foos.api}")
        found = decoded(reply.body)["components"]["schemas"] if reply.status == 200 else {}
        return {name.rpartition(".")[2]: schema for name, schema in found.items()}

    schemas = await until(published, lambda found: "Foo" in found)
    wanted = [{"fieldPath": path["jsonPath"].removeprefix(".")} for path in PATHS]
    for name in ("Foo", "FooList"):
        assert schemas[name]["x-kubernetes-selectable-fields"] == wanted
