"""Schemas of definitions as clients read them: /openapi/v3 follows what is defined and served."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.crds import fields, gone, spec, text
from conformance.target import Target, decoded, definition, until
from unit.cluster.api import CRDS, JsonObject

META = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
UNKNOWN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class Published:
    """The schemas of a group version."""

    def __init__(self, target: Target, api: str) -> None:
        self.target, self.path = target, f"/openapi/v3/apis/{api}"

    async def kinds(self) -> dict[str, JsonObject]:
        """The schema of every kind that is published now."""
        reply = await self.target.send("GET", self.path)
        found = decoded(reply.body)["components"]["schemas"] if reply.status == 200 else {}
        return {
            named["kind"]: schema
            for schema in found.values()
            for named in schema.get("x-kubernetes-group-version-kind") or []
            if f"/{named['group']}/" in self.path
        }

    async def kind(self, name: str = "Foo") -> JsonObject:
        """A schema, as soon as it is published: a real server takes a moment."""
        return (await until(self.kinds, lambda found: name in found))[name]


async def defined(target: Target, schema: JsonObject, **more: Any) -> str:
    """A group with a kind of that schema."""
    group = f"{target.namespace}.example.com"
    await target.create(CRDS, definition(group, schema, **more))
    return group


async def test_versions_are_published_apart(target: Target) -> None:
    group = f"{target.namespace}.example.com"
    body = definition(group, spec(a=text()))
    (first,) = body["spec"]["versions"]
    schema = {"openAPIV3Schema": spec(b=text())}
    body["spec"]["versions"].append({**first, "name": "v2", "storage": False, "schema": schema})
    await target.create(CRDS, body)
    for version, name in (("v1", "a"), ("v2", "b")):
        found = await Published(target, f"{group}/{version}").kind()
        assert found["properties"]["spec"]["properties"].keys() == {name}
    path = f"{CRDS}/foos.{group}"
    renamed = await target.get(path)
    renamed["spec"]["versions"][1]["name"] = "v3"
    await target.put(path, renamed)
    found = await Published(target, f"{group}/v3").kind()
    assert found["properties"]["spec"]["properties"].keys() == {"b"}


async def test_kinds_of_a_group_are_published_together(target: Target) -> None:
    group = await defined(target, spec(a=text()))
    other = definition(group, spec(b=text()))
    other["metadata"]["name"] = f"bars.{group}"
    names = {"plural": "bars", "singular": "bar", "kind": "Bar", "listKind": "BarList"}
    other["spec"]["names"] = names
    await target.create(CRDS, other)
    published = Published(target, f"{group}/v1")
    await published.kind("Bar")
    await published.kind("Foo")
    assert (await published.kinds()).keys() == {"Foo", "FooList", "Bar", "BarList"}
    paths = (await target.get(published.path))["paths"]
    root = f"/apis/{group}/v1"
    named = {f"{root}/namespaces/{{namespace}}/{each}" for each in ("foos", "bars")}
    single = {f"{each}/{{name}}" for each in named}
    assert paths.keys() == {f"{root}/foos", f"{root}/bars"} | named | single


async def test_a_changed_schema_is_published(target: Target) -> None:
    group = await defined(target, spec(a=text()))
    published, path = Published(target, f"{group}/v1"), f"{CRDS}/foos.{group}"
    await published.kind()
    changed = await target.get(path)
    changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = spec(z=text())
    await target.put(path, changed)

    async def names() -> set[str]:
        return set((await published.kind())["properties"]["spec"]["properties"])

    assert await until(names, {"z"}.__eq__) == {"z"}
    await target.delete(path)
    await gone(target, published.path)


async def test_what_every_object_has_is_explained(target: Target) -> None:
    published = Published(target, f"{await defined(target, spec(a=text()))}/v1")
    own = (await published.kind())["properties"]
    schemas = (await target.get(published.path))["components"]["schemas"]
    metadata = schemas[META.rpartition("/")[2]]["properties"]
    common = [own[name] for name in ("apiVersion", "kind", "metadata")]
    assert all(each.get("description") for each in (*common, *metadata.values()))


PORT = {"x-kubernetes-int-or-string": True}
EMBEDDED = {**UNKNOWN, "x-kubernetes-embedded-resource": True}
CASES: list[tuple[str, JsonObject, JsonObject]] = [
    ("open", UNKNOWN, UNKNOWN),
    ("described", {"type": "object", "description": "All of it."}, {"description": "All of it."}),
    (
        "either",
        fields(p=PORT),
        {"properties": {"p": {**PORT, "anyOf": [{"type": "integer"}, {"type": "string"}]}}},
    ),
    (
        "detailed",
        {**fields(q=text(enum=["x", "y"], default="x", nullable=True)), "required": ["q"]},
        {"required": ["q"]},
    ),
]


@pytest.mark.parametrize(("schema", "parts"), [row[1:] for row in CASES], ids=[r[0] for r in CASES])
async def test_a_field_is_published_as_declared(
    target: Target, schema: JsonObject, parts: JsonObject
) -> None:
    group = await defined(target, {"type": "object", "properties": {"spec": schema}})
    found = (await Published(target, f"{group}/v1").kind())["properties"]["spec"]
    assert found == {**schema, **parts}


async def test_what_a_schema_leaves_open_is_published_as_open(target: Target) -> None:
    group = await defined(target, UNKNOWN)
    found = await Published(target, f"{group}/v1").kind()
    assert found["x-kubernetes-preserve-unknown-fields"] is True
    assert found["properties"].keys() == {"apiVersion", "kind", "metadata"}


async def test_an_embedded_object_is_published_with_what_objects_have(target: Target) -> None:
    group = await defined(target, {"type": "object", "properties": {"spec": EMBEDDED}})
    found = (await Published(target, f"{group}/v1").kind())["properties"]["spec"]
    assert found["required"] == ["kind", "apiVersion"]
    assert found["properties"].keys() == {"apiVersion", "kind", "metadata"}
    assert found["properties"]["metadata"]["allOf"] == [{"$ref": META}]
    assert found.items() >= EMBEDDED.items()
