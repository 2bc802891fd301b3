"""Large and costly requests: answered as ever, beside others, and never over somebody's change."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

from quintant.cluster.apiserver.handlers.store import OBJECT_LIMIT
from quintant.cluster.apiserver.meta.field_errors import ERRORS_BYTES
from quintant.cluster.apiserver.offload.pool import LIGHT_BYTES, LIGHT_COST
from unit.cluster.api import APPLY, CMS, CRDS, FOOS, Api, JsonObject, api, config_map, foo

YAML = "application/yaml"
MANY = 3_000
"""Keys of a document that is too large to be read at once."""
ITEMS = 30
"""Items of a list whose rule costs more than what is evaluated at once."""
RULE = "self.all(a, self.all(b, self.all(c, a + b + c >= 0)))"


@pytest.fixture
async def client() -> AsyncIterator[Api]:
    found = api()
    with found.server.staffed():
        yield found


def large(name: str, **more: Any) -> JsonObject:
    return config_map(name, {f"k{at}": "v" * 10 for at in range(MANY)}, **more)


class LoopTurns:
    """Counts the turns that others get."""

    def __init__(self) -> None:
        self.count = 0

    async def __aenter__(self) -> LoopTurns:
        self._task = asyncio.ensure_future(self._go_on())
        await asyncio.sleep(0)
        self.count = 0
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _go_on(self) -> None:
        while True:
            self.count += 1
            await asyncio.sleep(0)


def definition(**spec: Any) -> JsonObject:
    names = {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}
    version = {"name": "v1", "served": True, "storage": True}
    versions = [{**version, "schema": {"openAPIV3Schema": schema}}]
    about = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    return {"metadata": {"name": "foos.example.com"}, "spec": about}


def numbers() -> JsonObject:
    return {
        "type": "array",
        "maxItems": ITEMS,
        "items": {"type": "integer"},
        "x-kubernetes-validations": [{"rule": RULE}],
    }


def listing(name: str, items: list[Any]) -> JsonObject:
    return foo(name, {"l": items})


async def test_others_get_their_turns_while_a_large_object_is_written(client: Api) -> None:
    async with LoopTurns() as turns:
        await client.create(CMS, config_map("small"))
        assert turns.count == 0
        created = await client.create(CMS, large("a"))
        assert turns.count > 0
    assert await client.get(f"{CMS}/a") == created


async def test_small_changes_of_large_objects_are_made_beside_others(client: Api) -> None:
    await client.create(CMS, large("a"))
    async with LoopTurns() as turns:
        await client.merge(f"{CMS}/a", {"metadata": {"labels": {"a": "b"}}})
        assert turns.count > 0


async def test_a_patch_overtaken_while_it_is_made_is_made_again(client: Api) -> None:
    await client.create(CMS, config_map("a"))
    slow = asyncio.ensure_future(client.merge(f"{CMS}/a", {"data": large("a")["data"]}))
    await asyncio.sleep(0)
    assert not slow.done()
    await client.merge(f"{CMS}/a", {"metadata": {"labels": {"quick": "1"}}})
    patched = await slow
    assert len(patched["data"]) == MANY
    assert patched["metadata"]["labels"] == {"quick": "1"}


async def test_a_put_overtaken_while_it_is_made_is_a_conflict(client: Api) -> None:
    before = await client.create(CMS, config_map("a"))
    rv = before["metadata"]["resourceVersion"]
    slow = asyncio.ensure_future(client.put(f"{CMS}/a", large("a", resourceVersion=rv), code=409))
    await asyncio.sleep(0)
    assert not slow.done()
    await client.merge(f"{CMS}/a", {"data": {"other": "1"}})
    assert (await slow)["reason"] == "Conflict"
    assert (await client.get(f"{CMS}/a"))["data"] == {"other": "1"}


async def test_an_object_is_not_created_twice_while_it_is_made(client: Api) -> None:
    slow = asyncio.ensure_future(client.create(CMS, large("a"), code=409))
    await asyncio.sleep(0)
    await client.create(CMS, config_map("a"))
    assert (await slow)["reason"] == "AlreadyExists"


async def test_nothing_is_created_in_a_namespace_that_went_meanwhile(client: Api) -> None:
    await client.create("/api/v1/namespaces", {"metadata": {"name": "b"}})
    place = CMS.replace("default", "b")
    slow = asyncio.ensure_future(client.create(place, large("a"), code=403))
    await asyncio.sleep(0)
    await client.delete("/api/v1/namespaces/b")
    assert "being terminated" in (await slow)["message"]


async def test_nothing_is_created_of_a_definition_that_went_meanwhile(client: Api) -> None:
    await client.create(CRDS, definition(l=numbers()))
    slow = asyncio.ensure_future(client.send("POST", FOOS, listing("a", [1] * ITEMS)))
    await asyncio.sleep(0)
    await client.delete(f"{CRDS}/foos.example.com")
    assert (await slow).status == 404
    await client.create(CRDS, definition())
    assert await client.names(FOOS) == []


async def test_a_costly_rule_is_evaluated_beside_others(client: Api) -> None:
    await client.create(CRDS, definition(l=numbers()))
    async with LoopTurns() as turns:
        await client.create(FOOS, listing("cheap", [1] * 5))
        assert turns.count == 0
        await client.create(FOOS, listing("costly", [1] * ITEMS))
        assert turns.count > 0


async def test_a_costly_rule_says_the_same_wherever_it_is_evaluated(client: Api) -> None:
    answers, refused = [], listing("a", [*[1] * (ITEMS - 1), -3])
    for each in (client, api()):
        await each.create(CRDS, definition(l=numbers()))
        answers.append(await each.create(FOOS, refused, code=422))
    assert answers[0] == answers[1]
    assert "failed rule" in answers[0]["message"]


async def test_many_cheap_rules_together_are_costly(client: Api) -> None:
    item = {"type": "string", "maxLength": 3, "x-kubernetes-validations": [{"rule": "self != ''"}]}
    await client.create(CRDS, definition(l={"type": "array", "maxItems": 1000, "items": item}))
    async with LoopTurns() as turns:
        await client.create(FOOS, listing("a", ["x"] * (LIGHT_COST // 50)))
        assert turns.count > 0


async def test_yaml_counts_for_more_than_it_is_long(client: Api) -> None:
    text = b"metadata: {name: a}\ndata:\n" + b"".join(b"  k%d: v\n" % at for at in range(300))
    assert len(text) < LIGHT_BYTES
    async with LoopTurns() as turns:
        await client.create(CMS, text, media=YAML)
        assert turns.count > 0


async def test_configurations_in_json_are_no_yaml(client: Api) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", **config_map("a", {"k": "v" * 2_000})}
    async with LoopTurns() as turns:
        await client.ask("PATCH", f"{CMS}/a", config, 201, media=APPLY, fieldManager="me")
        assert turns.count == 0


async def test_no_object_grows_beyond_what_etcd_would_take(client: Api) -> None:
    half = "x" * (OBJECT_LIMIT // 2)
    await client.create(CRDS, definition(a={"type": "string"}, b={"type": "string"}))
    await client.create(FOOS, foo("a", {"a": half}))
    refused = await client.merge(f"{FOOS}/a", {"spec": {"b": half}}, code=500)
    assert refused["message"] == "etcdserver: request is too large"
    assert list((await client.get(f"{FOOS}/a"))["spec"]) == ["a"]


async def test_complaints_about_a_list_do_not_fill_the_memory(client: Api) -> None:
    choices = [f"choice-{at}" for at in range(2_000)]
    item = {"type": "string", "enum": choices}
    await client.create(CRDS, definition(l={"type": "array", "items": item}))
    reply = await client.send("POST", FOOS, listing("a", ["none"] * 2_000))
    assert reply.status == 422
    assert len(reply.body) < 20 * 1024 * 1024


async def test_garbage_is_searched_for_again_after_all_that(client: Api) -> None:
    await client.create(CMS, large("a"))
    assert gc.isenabled()


async def test_long_selectors_are_read_beside_others(client: Api) -> None:
    await client.create(CMS, config_map("a"))
    selector = ",".join(f"!k{at}" for at in range(MANY))
    async with LoopTurns() as turns:
        found = await client.get(CMS, labelSelector=selector)
        assert turns.count > 0
    assert [item["metadata"]["name"] for item in found["items"]] == ["a"]


async def test_complaints_about_an_object_do_not_fill_the_memory(client: Api) -> None:
    labels = {f"-{at}": "-" for at in range(15_000)}
    refused = await client.create(CMS, config_map("a", labels=labels), code=422)
    told = [cause["message"] for cause in refused["details"]["causes"]]
    assert sum(map(len, told)) < ERRORS_BYTES
    assert len(told) > 1_000


async def test_unknown_fields_are_told_up_to_a_hundred(client: Api) -> None:
    sent = {**config_map("a"), **{f"x{at}": 1 for at in range(200)}}
    refused = await client.create(CMS, sent, code=400, fieldValidation="Strict")
    assert refused["message"].count("unknown field") == 100


async def test_a_definition_may_have_thousands_of_versions(client: Api) -> None:
    sent = definition()
    schema = {"openAPIV3Schema": {"type": "object"}}
    sent["spec"]["versions"] = [
        {"name": f"v{at}", "served": True, "storage": at == 1, "deprecated": True, "schema": schema}
        for at in range(1, 2_000)
    ]
    sent["spec"]["versions"][-1]["deprecated"] = False
    await client.create(CRDS, sent)

    index = await client.get("/openapi/v3")
    assert "apis/example.com/v1" in index["paths"]
    assert "apis/example.com/v1999" in index["paths"]


async def test_small_objects_of_a_large_schema_are_made_beside_others(client: Api) -> None:
    fields = {f"a{at}": {"type": "string", "default": "x" * 40} for at in range(5_000)}
    await client.create(CRDS, definition(**fields))
    async with LoopTurns() as turns:
        made = await client.create(FOOS, foo("a", {}))
        assert turns.count > 0
    assert len(made["spec"]) == 5_000


async def test_long_questions_are_answered_beside_others(client: Api) -> None:
    extra = {f"k{at}": ["v"] for at in range(MANY)}
    asked = {"spec": {"user": "a", "extra": extra, "resourceAttributes": {"verb": "get"}}}
    async with LoopTurns() as turns:
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        answer = await client.create(path, asked)
        assert turns.count > 0
    assert answer["status"]["allowed"]
