"""OpenAPI v2, which older and other clients read: in JSON, and as protobuf for those in Go."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.crds import fields, text
from conformance.target import Target, decoded, definition, until
from quintant.wire.protobuf import Wire, members, tag
from unit.cluster.api import CRDS, JSON, JsonObject

PATH = "/openapi/v2"
GNOSTIC = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
META = "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
UNKNOWN = {"x-kubernetes-preserve-unknown-fields": True}
STRING = {"type": "string"}


async def defined(target: Target, schema: JsonObject) -> str:
    """The name of the schema of a kind whose spec is like this, as soon as it is published."""
    group = f"{target.namespace}.example.com"
    whole = {"type": "object", "properties": {"spec": schema}}
    await target.create(CRDS, definition(group, whole))
    return await published(target)


async def published(target: Target) -> str:
    """The name of a kind's schema, as soon as it is there."""
    name = f"com.example.{target.namespace}.v1.Foo"

    async def listed() -> bool:
        return name in (await target.get(PATH))["definitions"]

    assert await until(listed)
    return name


async def test_an_object_that_takes_any_field_names_none(target: Target) -> None:
    group = f"{target.namespace}.example.com"
    whole = {"type": "object", "properties": {"spec": fields(a=STRING)}, **UNKNOWN}
    await target.create(CRDS, definition(group, whole))
    name = await published(target)
    gvk = {"group": group, "kind": "Foo", "version": "v1"}
    assert (await target.get(PATH))["definitions"][name] == {
        "type": "object",
        "x-kubernetes-group-version-kind": [gvk],
    }


CASES: list[tuple[str, JsonObject, JsonObject]] = [
    ("plain", text(5, description="A."), text(5, description="A.")),
    ("nullable", text(5, nullable=True), {"maxLength": 5}),
    (
        "nullable-object",
        {**fields(a=STRING), "nullable": True, "required": ["a"]},
        {"required": ["a"]},
    ),
    (
        "list",
        {"type": "array", "items": {**STRING, "nullable": True}},
        {"type": "array", "items": {}},
    ),
    ("open", {**fields(a=STRING), **UNKNOWN}, UNKNOWN),
    (
        "nested",
        {"type": "object", **UNKNOWN, "x-kubernetes-embedded-resource": True},
        {**UNKNOWN, "x-kubernetes-embedded-resource": True},
    ),
    ("either", {"x-kubernetes-int-or-string": True}, {"x-kubernetes-int-or-string": True}),
    ("default", {**STRING, "default": "a"}, STRING),
    ("choice", {"type": "integer", "oneOf": [{"minimum": 1}]}, {"type": "integer"}),
    ("all", {"type": "integer", "allOf": [{"minimum": 1}]}, {"type": "integer"}),
    ("map", fields(a=fields(b=STRING)), fields(a=fields(b=STRING))),
]


@pytest.mark.parametrize(("schema", "told"), [row[1:] for row in CASES], ids=[r[0] for r in CASES])
async def test_a_schema_is_told_as_far_as_v2_goes(
    target: Target, schema: JsonObject, told: JsonObject
) -> None:
    name = await defined(target, schema)
    found = (await target.get(PATH))["definitions"][name]
    assert found["properties"]["spec"] == told
    assert found["properties"]["metadata"]["$ref"] == META
    group = f"{target.namespace}.example.com"
    gvk = {"group": group, "kind": "Foo", "version": "v1"}
    assert found["x-kubernetes-group-version-kind"] == [gvk]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("io.k8s.apimachinery.pkg.api.resource.Quantity", STRING),
        (
            "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
            {**STRING, "format": "int-or-string"},
        ),
        ("io.k8s.apimachinery.pkg.apis.meta.v1.Time", {**STRING, "format": "date-time"}),
    ],
)
async def test_what_may_be_several_things_is_a_string(
    target: Target, name: str, told: JsonObject
) -> None:
    found = (await target.get(PATH))["definitions"][name]
    assert {key: found[key] for key in found if key != "description"} == told


async def test_requests_say_what_they_take(target: Target) -> None:
    document = await target.get(PATH)
    assert document["swagger"] == "2.0"
    made = document["paths"]["/api/v1/namespaces/{namespace}/configmaps"]["post"]
    by_name = {each["name"]: each for each in made["parameters"] if "name" in each}
    assert by_name["body"]["schema"] == {"$ref": "#/definitions/io.k8s.api.core.v1.ConfigMap"}
    assert by_name["fieldValidation"]["in"] == "query"
    assert made["x-kubernetes-action"] == "post"


async def test_the_form_is_negotiated(target: Target) -> None:
    for accept, answered in (
        ("*/*", JSON),
        (JSON, JSON),
        (GNOSTIC, GNOSTIC.replace("@", ".")),
        (f"{GNOSTIC}, {JSON};q=0.5", GNOSTIC.replace("@", ".")),
    ):
        reply = await target.send("GET", PATH, headers={"accept": accept})
        assert (reply.status, reply.headers["content-type"]) == (200, answered)
        again = {"accept": accept, "if-none-match": reply.headers["etag"]}
        assert (await target.send("GET", PATH, headers=again)).status == 304
    assert (await target.send("GET", PATH, headers={"accept": "text/html"})).status == 406


async def test_protobuf_says_the_same(target: Target) -> None:
    fit: JsonObject = fields(
        a={**STRING, "format": "date", "enum": ["x"]},
        b={"type": "array", "items": {"type": "integer", "minimum": -1}},
        c={"type": "object", "additionalProperties": {"type": "boolean"}},
        d={"x-kubernetes-int-or-string": True},
    )
    name = await defined(target, {**fit, "required": ["a"]})
    document = decoded((await target.send("GET", PATH)).body)["definitions"]
    raw = (await target.send("GET", PATH, headers={"accept": GNOSTIC})).body
    (definitions,) = inside(raw, 9)
    found = dict(map(pair, inside(definitions, 1)))
    assert found.keys() == document.keys()
    assert shape(found[name]) == plain(document[name])


def inside(raw: bytes, number: int) -> list[Any]:
    """The members of a message with a number, which are strings or messages."""
    return [value for key, value in members(raw) if key == tag(number, Wire.LENGTH)]


def pair(raw: bytes) -> tuple[str, bytes]:
    return inside(raw, 1)[0].decode(), inside(raw, 2)[0]


def shape(raw: bytes) -> JsonObject:
    """A schema of the protobuf form: of which type it is, and what is in it."""
    found: JsonObject = {name: inside(raw, at)[0].decode() for name, at in TEXTS if inside(raw, at)}
    if types := inside(raw, 22):
        found["type"] = inside(types[0], 1)[0].decode()
    if required := inside(raw, 19):
        found["required"] = [each.decode() for each in required]
    for name, at in (("additionalProperties", 21), ("items", 23)):
        if below := inside(raw, at):
            found[name] = shape(inside(below[0], 1)[0])
    if properties := inside(raw, 25):
        found["properties"] = {
            name: shape(schema) for name, schema in map(pair, inside(properties[0], 1))
        }
    return found | {pair(each)[0]: ... for each in inside(raw, 31)}


TEXTS = (("$ref", 1), ("format", 2))
SHAPE = ("$ref", "format", "type", "required")


def plain(schema: JsonObject) -> JsonObject:
    """A schema of the JSON form, as far as `shape` looks."""
    found: JsonObject = {name: schema[name] for name in SHAPE if name in schema}
    for name in ("items", "additionalProperties"):
        found |= {name: plain(schema[name])} if name in schema else {}
    below = schema.get("properties")
    found |= {"properties": {name: plain(below[name]) for name in below}} if below else {}
    return found | {name: ... for name in schema if name.startswith("x-")}
