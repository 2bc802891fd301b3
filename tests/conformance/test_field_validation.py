"""Fields that are unknown or there twice, in every kind of write, however closely it is read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
import pytest_asyncio

from conformance.crds import body, warnings
from conformance.kinds import DEPLOYMENT
from conformance.target import OPEN, STRATEGIC, YAML, Target
from quintant.client.transport import ApiResponse
from unit.cluster.api import APPLY, JSON, JSON_PATCH, MERGE, JsonObject

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {"size": {"type": "integer"}, "inner": {"type": "object"}},
        }
    },
}
DEGREES = ("Strict", "Warn", "Ignore", "")
STRICTNESS = pytest.mark.parametrize("strictness", DEGREES)
KINDS = ("built-in", "schema", "open")


@dataclass(frozen=True)
class Place:
    """An object that is there, and the beginning of every document about it."""

    target: Target
    collection: str
    head: str
    tail: str
    """What else its spec needs."""
    kind: str
    strategic: bool

    def text(self, spec: str, top: str = "", name: str = "a") -> bytes:
        """A document whose spec begins with these fields."""
        metadata = f'"metadata":{{"name":"{name}"}}'
        return f'{{{self.head},{metadata}{top},"spec":{{{spec}{self.tail}}}}}'.encode()

    @property
    def writes(self) -> list[tuple[str, str]]:
        """Every way to write, and every degree of strictness."""
        ways = [way for way in WAYS if self.strategic or way != "strategic"]
        return list(product(ways, DEGREES))

    async def write(self, way: str, text: bytes, strictness: str) -> ApiResponse:
        method, media = WAYS[way]
        query: dict[str, Any] = {"dryRun": "All"} | (
            {"fieldValidation": strictness} if strictness else {}
        )
        query |= {"fieldManager": "me", "force": "true"} if way == "apply" else {}
        path = self.collection if method == "POST" else f"{self.collection}/a"
        if method == "PUT" and self.kind != DEPLOYMENT.kind:
            live = await self.target.get(path)
            version = f'"name":"a","resourceVersion":"{live["metadata"]["resourceVersion"]}"'
            text = text.replace(b'"name":"a"', version.encode())
        return await self.target.send(method, path, text, media=media, **query)


WAYS = {
    "POST": ("POST", JSON),
    "PUT": ("PUT", JSON),
    "merge": ("PATCH", MERGE),
    "strategic": ("PATCH", STRATEGIC),
    "apply": ("PATCH", APPLY),
}


@pytest_asyncio.fixture(params=KINDS)
async def place(request: pytest.FixtureRequest, target: Target) -> AsyncIterator[Place]:
    if request.param == "built-in":
        await target.create(DEPLOYMENT.path(target), DEPLOYMENT.object("a"))
        pods = (
            ',"selector":{"matchLabels":{"app":"check"}},"template":{"metadata":{"labels":'
            '{"app":"check"}},"spec":{"containers":[{"name":"main","image":"image:1"}]}}'
        )
        head = '"apiVersion":"apps/v1","kind":"Deployment"'
        yield Place(target, DEPLOYMENT.path(target), head, pods, "Deployment", True)
    else:
        foos = await target.define(schema=SCHEMA if request.param == "schema" else OPEN)
        await target.create(foos.path(), foos.object("a", spec={"size": 1}))
        head = f'"apiVersion":"{foos.api}","kind":"Foo"'
        yield Place(target, foos.path(), head, "", "Foo", False)


def complaints(reply: ApiResponse) -> set[str]:
    """What a strict server refuses, or a lenient one tells."""
    if reply.status < 400:
        return set(warnings(reply))
    said = body(reply)["message"].partition("strict decoding error: ")[2]
    return set(said.split(", "))


async def test_unknown_fields(place: Place) -> None:
    kept = await keeps(place)
    for way, strictness in place.writes:
        await check_unknown(place, way, strictness, kept=kept)


async def check_unknown(place: Place, way: str, strictness: str, *, kept: bool) -> None:
    sent = place.text('"zap":1', ',"zip":1', "b" if way == "POST" else "a")
    reply = await place.write(way, sent, strictness)
    unknown = {'unknown field "spec.zap"', 'unknown field "zip"'}
    if kept:
        assert (reply.status < 300, complaints(reply)) == (True, set())
    elif way == "apply":
        assert reply.status == 500
        assert "field not declared in schema" in body(reply)["message"]
    elif strictness == "Strict":
        assert (reply.status, complaints(reply)) == (
            400 if way in ("POST", "PUT") else 422,
            unknown,
        )
    else:
        assert reply.status < 300
        assert complaints(reply) == (set() if strictness == "Ignore" else unknown)
        assert "zip" not in body(reply)


async def keeps(place: Place) -> bool:
    """Whether the kind keeps fields that nobody declared."""
    probe = place.text('"zap":1', "", "b")
    reply = await place.write("POST", probe, "Ignore")
    return "zap" in body(reply)["spec"]


async def test_fields_that_are_there_twice(place: Place) -> None:
    for way, strictness in place.writes:
        await check_twice(place, way, strictness)


async def check_twice(place: Place, way: str, strictness: str) -> None:
    field = "replicas" if place.strategic else "size"
    sent = place.text(f'"{field}":1,\n"{field}":2', "", "b" if way == "POST" else "a")
    reply = await place.write(way, sent, strictness)
    if strictness == "Strict" and way == "apply":
        assert (reply.status, body(reply)["message"]) == (
            400,
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
            f'  line 2: key "{field}" already set in map',
        )
        return
    duplicate = {f'duplicate field "spec.{field}"'}
    if way == "apply":
        duplicate = {f'line 2: key "{field}" already set in map'}
    if strictness == "Strict":
        assert reply.status == (400 if way in ("POST", "PUT") else 422)
        assert complaints(reply) == duplicate
    else:
        assert body(reply)["spec"][field] == 2
        assert complaints(reply) == (set() if strictness == "Ignore" else duplicate)


@STRICTNESS
async def test_unknown_metadata_of_custom_resources(target: Target, strictness: str) -> None:
    foos = await target.define()
    obj = foos.object("a", {"zop": 1, "labels": {"a": "b"}})
    query: dict[str, Any] = {"fieldValidation": strictness} if strictness else {}
    reply = await target.send("POST", foos.path(), obj, **query)
    unknown = {'unknown field "metadata.zop"'}
    if strictness == "Strict":
        assert (reply.status, complaints(reply)) == (400, unknown)
    else:
        assert "zop" not in body(reply)["metadata"]
        assert complaints(reply) == (set() if strictness == "Ignore" else unknown)


async def test_a_hundred_unknown_fields_are_told_and_no_more(target: Target) -> None:
    obj = {"metadata": {"name": "a"}, **{f"x{at}": 1 for at in range(150)}}
    reply = await target.send("POST", target.path("configmaps"), obj, fieldValidation="Strict")
    assert (reply.status, len(complaints(reply))) == (400, 100)


@STRICTNESS
async def test_yaml_with_a_key_twice(target: Target, strictness: str) -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
        "data:\n  k: '1'\n  k: '2'\nzip: 1\nzip: 2\n"
    )
    query: dict[str, Any] = {"fieldValidation": strictness} if strictness else {}
    reply = await target.send("POST", target.path("configmaps"), text.encode(), media=YAML, **query)
    lines = ['line 7: key "k" already set in map', 'line 9: key "zip" already set in map']
    if strictness == "Strict":
        assert (reply.status, body(reply)["message"]) == (
            400,
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
            f'yaml: unmarshal errors:\n  {lines[0]}\n  {lines[1]}, unknown field "zip"',
        )
    else:
        assert body(reply)["data"] == {"k": "2"}
        told = {*lines, 'unknown field "zip"'}
        assert complaints(reply) == (set() if strictness == "Ignore" else told)


@STRICTNESS
async def test_operations_are_read_as_closely(target: Target, strictness: str) -> None:
    path = target.path("configmaps", "a")
    await target.create(target.path("configmaps"), {"metadata": {"name": "a"}, "data": {"k": "v"}})
    patch = (
        b'[{"op":"add","path":"/data/x","value":"1","value":"2"},'
        b'{"op":"add","op":"add","path":"/data/y","value":"1","foo":1},'
        b'{"op":"add","path":"/zip","value":1}]'
    )
    query: dict[str, Any] = {"fieldValidation": strictness} if strictness else {}
    reply = await target.send("PATCH", path, patch, media=JSON_PATCH, **query)
    told = {
        'json patch duplicate field "[0].value"',
        'json patch duplicate field "[1].op"',
        'json patch unknown field "[1].foo"',
        'unknown field "zip"',
    }
    if strictness == "Strict":
        assert (reply.status, complaints(reply)) == (422, told)
    else:
        assert body(reply)["data"] == {"k": "v", "x": "2", "y": "1"}
        assert complaints(reply) == (set() if strictness == "Ignore" else told)


async def test_there_is_no_other_way_to_read(target: Target) -> None:
    for method, path, document in (
        ("POST", target.path("configmaps"), "CreateOptions"),
        ("PUT", target.path("configmaps", "a"), "UpdateOptions"),
    ):
        obj = {"metadata": {"name": "a"}}
        reply = await target.send(method, path, obj, fieldValidation="Sideways")
        assert (reply.status, body(reply)["details"]["kind"]) == (422, document)


async def test_fields_of_built_in_kinds_are_reported_in_the_order_of_the_text(
    target: Target,
) -> None:
    text = (
        b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","zap":1},'
        b'"data":{},"zip":2,"data":{},"zop":3}'
    )
    for strictness in ("Strict", "Warn"):
        reply = await target.send(
            "POST", target.path("configmaps"), text, media=JSON, fieldValidation=strictness
        )
        expected = ['unknown field "metadata.zap"', 'unknown field "zip"', 'duplicate field "data"']
        expected.append('unknown field "zop"')
        if strictness == "Warn":
            assert warnings(reply) == sorted(expected)
        else:
            assert body(reply)["message"].endswith(f"error: {', '.join(expected)}")
