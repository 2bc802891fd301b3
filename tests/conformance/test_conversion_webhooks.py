"""Conversion webhooks: one object, seen and written at several versions."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from conformance.crds import spec, text
from conformance.hooks import MOST_BYTES, Hooks, hooked
from conformance.target import Target, definition, until
from quintant.client.transport import ApiResponse
from quintant.http.request import Request
from quintant.http.response import Response
from unit.cluster.api import CRDS, JsonObject

Spoil = Callable[[JsonObject], Any]
"""Makes something else of a response."""


class Foos:
    """A kind with `host` at v1, which is stored, and `hosts` at v2."""

    def __init__(self, target: Target, hooks: Hooks) -> None:
        self.target, self.group = target, f"{target.namespace}.example.com"
        self.asked: list[JsonObject] = []
        self.spoil: Spoil = lambda response: response
        hooks.handle = self._handle  # type: ignore[method-assign]
        bundle = b64encode(hooks.authority).decode()
        client = {"url": f"https://{hooks.address}/convert", "caBundle": bundle}
        self.webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}

    async def define(self) -> None:
        body = definition(self.group, subresources={"status": {}})
        (first,) = body["spec"]["versions"]
        body["spec"]["versions"].append({**first, "name": "v2", "storage": False})
        body["spec"]["conversion"] = {"strategy": "Webhook", "webhook": self.webhook}
        await self.target.create(CRDS, body)
        await self.create("v1", "first", host="x")

    async def forget(self) -> None:
        """Take the definition away; while it goes, a real server still converts what it lists."""
        self.spoil = lambda response: response
        path = f"{CRDS}/foos.{self.group}"
        await self.target.send("DELETE", path)

        async def left() -> ApiResponse:
            return await self.target.send("GET", path)

        assert (await until(left, lambda reply: reply.status == 404)).status == 404

    def path(self, version: str, name: str = "", sub: str = "") -> str:
        return self.target.path("foos", name, f"{self.group}/{version}", sub)

    def object(self, version: str, name: str, **spec: Any) -> JsonObject:
        head = {"apiVersion": f"{self.group}/{version}", "kind": "Foo"}
        return {**head, "metadata": {"name": name}, "spec": spec}

    async def create(self, version: str, name: str, **spec: Any) -> JsonObject:
        """A new object; a real server needs a moment to know its definition."""

        async def attempt() -> ApiResponse:
            return await self.target.send(
                "POST", self.path(version), self.object(version, name, **spec)
            )

        reply = await until(attempt, lambda reply: reply.status == 201)
        assert reply.status == 201, reply.body
        made: JsonObject = msgspec.json.decode(reply.body)
        return made

    async def _handle(self, request: Request) -> Response:
        review = msgspec.json.decode(await request.body(MOST_BYTES))
        asked = review["request"]
        self.asked.append(asked)
        wanted = asked["desiredAPIVersion"]
        converted = [_converted(obj, wanted) for obj in asked["objects"]]
        result = {"status": "Success"}
        response = {"uid": asked["uid"], "result": result, "convertedObjects": converted}
        head = {"apiVersion": review["apiVersion"], "kind": review["kind"]}
        body = msgspec.json.encode({**head, "response": self.spoil(response)})
        return Response(200, {"content-type": "application/json"}, body)


def _converted(obj: JsonObject, wanted: str) -> JsonObject:
    spec = dict(obj.get("spec") or {})
    if wanted.endswith("v2") and "host" in spec:
        spec["hosts"] = [spec.pop("host")]
    elif wanted.endswith("v1") and "hosts" in spec:
        spec["host"] = spec.pop("hosts")[0]
    return {**obj, "apiVersion": wanted, "spec": spec}


@pytest_asyncio.fixture
async def foos(target: Target) -> AsyncIterator[Foos]:
    async with hooked(target) as hooks:
        found = Foos(target, hooks)
        await found.define()
        yield found
        await found.forget()


async def test_an_object_is_seen_at_both_versions(target: Target, foos: Foos) -> None:
    await foos.create("v2", "second", hosts=["y"])
    for name, host in (("first", "x"), ("second", "y")):
        one = await target.get(foos.path("v1", name))
        other = await target.get(foos.path("v2", name))
        assert (one["spec"], other["spec"]) == ({"host": host}, {"hosts": [host]})
        assert (one["apiVersion"], other["apiVersion"]) == (f"{foos.group}/v1", f"{foos.group}/v2")
        assert one["metadata"]["uid"] == other["metadata"]["uid"]
        assert one["metadata"]["resourceVersion"] == other["metadata"]["resourceVersion"]


async def test_lists_are_converted(target: Target, foos: Foos) -> None:
    await foos.create("v2", "second", hosts=["y"])
    for version, specs in (
        ("v1", [{"host": "x"}, {"host": "y"}]),
        ("v2", [{"hosts": ["x"]}, {"hosts": ["y"]}]),
    ):
        listed = await target.get(foos.path(version))
        assert [item["spec"] for item in listed["items"]] == specs
        assert {item["apiVersion"] for item in listed["items"]} == {f"{foos.group}/{version}"}


async def test_the_version_that_is_stored_works_without_a_webhook(
    target: Target, foos: Foos
) -> None:
    foos.spoil = lambda response: None
    await target.get(foos.path("v1"))
    await target.merge(foos.path("v1", "first"), {"spec": {"host": "z"}})
    assert (await target.get(foos.path("v1", "first")))["spec"] == {"host": "z"}
    await target.delete(foos.path("v1", "first"))


async def test_watches_are_converted(target: Target, foos: Foos) -> None:
    async with target.watch(foos.path("v2")) as events:
        first = await events.next(5.0)
        assert (first["type"], first["object"]["spec"]) == ("ADDED", {"hosts": ["x"]})
        await target.merge(foos.path("v1", "first"), {"spec": {"host": "z"}})
        second = await events.next(5.0)
        assert (second["type"], second["object"]["spec"]) == ("MODIFIED", {"hosts": ["z"]})
        await target.delete(foos.path("v1", "first"))
        third = await events.next(5.0)
        assert (third["type"], third["object"]["spec"]) == ("DELETED", {"hosts": ["z"]})


async def test_objects_are_selected_by_what_a_version_shows(target: Target, foos: Foos) -> None:
    await declare_fields(target, foos)
    await foos.create("v2", "second", hosts=["y"])
    for version, selector, names in (
        ("v1", "spec.host=x", ["first"]),
        ("v2", "spec.place=x", ["first"]),
        ("v2", "spec.place!=x", ["second"]),
        ("v2", "spec.place=y,metadata.name=first", []),
    ):
        assert await target.names(foos.path(version), fieldSelector=selector) == names, selector
    async with target.watch(foos.path("v2"), fieldSelector="spec.place=x") as events:
        assert await events.told(5.0) == ("ADDED", "first")
        await target.merge(foos.path("v1", "second"), {"spec": {"host": "x"}})
        assert await events.told(5.0) == ("ADDED", "second")
        await target.merge(foos.path("v2", "first"), {"spec": {"hosts": ["z"]}})
        assert await events.told(5.0) == ("DELETED", "first")
        await target.ask("DELETE", foos.path("v2"), None, 200, fieldSelector="spec.place=x")
        assert await events.told(5.0) == ("DELETED", "second")
    assert await target.names(foos.path("v1")) == ["first"]


async def declare_fields(target: Target, foos: Foos) -> None:
    """Objects are selected by their host: at v2 the webhook gives it in a field of its own."""

    def placed(response: JsonObject) -> JsonObject:
        for obj in response["convertedObjects"]:
            if hosts := obj["spec"].get("hosts"):
                obj["spec"]["place"] = hosts[0]
        return response

    foos.spoil = placed
    path = f"{CRDS}/foos.{foos.group}"
    body = await target.get(path)
    hosts = {"type": "array", "items": text()}
    schemas = spec(host=text()), spec(place=text(), hosts=hosts)
    for version, schema, name in zip(
        body["spec"]["versions"], schemas, ("host", "place"), strict=True
    ):
        version["schema"] = {"openAPIV3Schema": schema}
        version["selectableFields"] = [{"jsonPath": f".spec.{name}"}]
    await target.put(path, body)

    async def attempt() -> ApiResponse:
        return await target.send("GET", foos.path("v2"), fieldSelector="spec.place=x")

    assert (await until(attempt, lambda reply: reply.status == 200)).status == 200


async def test_writes_at_another_version_are_converted(target: Target, foos: Foos) -> None:
    path = foos.path("v2", "first")
    patched = await target.merge(path, {"spec": {"hosts": ["p"]}})
    assert patched["spec"] == {"hosts": ["p"]}
    assert patched["metadata"]["generation"] == 2
    put = await target.put(path, {**patched, "spec": {"hosts": ["q"]}})
    assert put["spec"] == {"hosts": ["q"]}
    assert (await target.get(foos.path("v1", "first")))["spec"] == {"host": "q"}
    status = await target.merge(foos.path("v2", "first", "status"), {"status": {"a": "b"}})
    assert (status["spec"], status["status"]) == ({"hosts": ["q"]}, {"a": "b"})
    config = foos.object("v2", "first", extra="e")
    applied = await target.apply(path, config, "me")
    assert applied["spec"] == {"hosts": ["q"], "extra": "e"}


async def test_an_object_is_deleted_at_another_version(target: Target, foos: Foos) -> None:
    await target.delete(foos.path("v2", "first"))
    await target.get(foos.path("v1", "first"), code=404)


async def test_a_review_asks_for_a_version(target: Target, foos: Foos) -> None:
    await target.get(foos.path("v2", "first"))
    asked = foos.asked[0]
    assert asked["desiredAPIVersion"] == f"{foos.group}/v2"
    (obj,) = asked["objects"]
    assert (obj["apiVersion"], obj["kind"]) == (f"{foos.group}/v1", "Foo")
    assert obj["metadata"]["name"] == "first"


async def test_labels_may_be_changed_and_nothing_else(target: Target, foos: Foos) -> None:
    def relabel(response: JsonObject) -> JsonObject:
        (obj,) = response["convertedObjects"]
        obj["metadata"] |= {"labels": {"a": "b"}, "finalizers": ["a.b/c"]}
        return response

    foos.spoil = relabel
    found = await target.get(foos.path("v2", "first"))
    assert found["metadata"]["labels"] == {"a": "b"}
    assert "finalizers" not in found["metadata"]


def amended(**changes: Any) -> Spoil:
    def amend(response: JsonObject) -> JsonObject:
        (obj,) = response["convertedObjects"]
        for path, value in changes.items():
            *parents, last = path.split("__")
            place = obj
            for part in parents:
                place = place[part]
            place[last] = value
        return response

    return amend


FAILURES: list[tuple[Spoil, str]] = [
    (
        lambda response: {"uid": response["uid"], "result": {"status": "Failed", "message": "no"}},
        " failed: no",
    ),
    (
        lambda response: {**response, "result": {}},
        " failed: response.result.status was '', not 'Success'",
    ),
    (lambda response: None, " failed: no response provided"),
    (
        lambda response: {**response, "convertedObjects": []},
        " returned 0 objects, expected 1",
    ),
    (
        amended(metadata__name="other"),
        " returned invalid object: must have the same name: first != other",
    ),
    (
        amended(kind="Bar"),
        " returned invalid object at index 0: invalid kind (expected Foo, received Bar)",
    ),
    (
        amended(apiVersion="v9"),
        " returned invalid object at index 0: invalid groupVersion (expected {group}/v2, "
        "received v9)",
    ),
]


@pytest.mark.parametrize(("spoil", "text"), FAILURES)
async def test_a_conversion_that_goes_wrong_is_told(
    target: Target, foos: Foos, spoil: Spoil, text: str
) -> None:
    foos.spoil = spoil
    told = await target.get(foos.path("v2", "first"), code=500)
    what = f"conversion webhook for {foos.group}/v1, Kind=Foo"
    assert told["message"] == what + text.replace("{group}", foos.group)
    body = foos.object("v2", "second", hosts=["y"])
    refused = await target.create(foos.path("v2"), body, code=500)
    assert refused["message"].startswith(f"conversion webhook for {foos.group}/v2, Kind=Foo")
    assert await target.names(foos.path("v1")) == ["first"]


async def test_a_definition_can_do_without_its_webhook_again(target: Target, foos: Foos) -> None:
    await target.merge(
        f"{CRDS}/foos.{foos.group}", {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
    )

    async def attempt() -> Any:
        return (await target.get(foos.path("v2", "first")))["spec"]

    assert await until(attempt, lambda spec: "host" in spec) == {"host": "x"}
