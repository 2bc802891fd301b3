from __future__ import annotations

from typing import Any

import msgspec

from unit.cluster.api import CRDS, FOO_SCHEMA, FOOS, Api, JsonObject, api, foo, foo_definition

FOO_CRD = f"{CRDS}/foos.example.com"


def conditions(crd: JsonObject) -> dict[str, tuple[str, str]]:
    found = crd["status"]["conditions"] or []
    return {each["type"]: (each["status"], each["reason"]) for each in found}


async def defined(**version: Any) -> Api:
    client = api()
    await client.create(CRDS, foo_definition(**version))
    return client


async def test_a_definition_is_established_in_two_steps() -> None:
    client = api()
    created = await client.create(CRDS, foo_definition())
    assert created["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v1"],
    }
    since = created["metadata"]["resourceVersion"]
    async with client.watch(CRDS, resourceVersion=since, timeoutSeconds="1") as events:
        steps = [conditions(event["object"]) for event in await events.rest()]
    assert steps == [
        {"NamesAccepted": ("True", "NoConflicts"), "Established": ("False", "Installing")},
        {"NamesAccepted": ("True", "NoConflicts"), "Established": ("True", "InitialNamesAccepted")},
    ]
    names = (await client.get(FOO_CRD))["status"]["acceptedNames"]
    assert names == {
        "plural": "foos",
        "singular": "foo",
        "kind": "Foo",
        "listKind": "FooList",
        "shortNames": ["fo"],
    }


async def test_a_new_kind_is_served_and_discovered_at_once() -> None:
    client = await defined()
    assert (await client.get(FOOS))["kind"] == "FooList"
    groups = (await client.get("/apis"))["groups"]
    assert "example.com" in [group["name"] for group in groups]
    listed = (await client.get("/apis/example.com/v1"))["resources"]
    assert [entry["name"] for entry in listed] == ["foos", "foos/status", "foos/scale"]


async def test_objects_are_pruned_and_defaulted() -> None:
    client = await defined()
    spec = {"unknown": 1, "opts": {"z": 1}, "free": {"kept": [1]}, "ports": [{"port": 1, "x": 2}]}
    created = await client.create(FOOS, foo("a", spec))
    assert created["spec"] == {
        "size": 1,
        "opts": {"a": "x"},
        "free": {"kept": [1]},
        "ports": [{"port": 1, "protocol": "TCP"}],
    }


async def test_a_new_default_appears_on_old_objects_without_a_write() -> None:
    client = await defined()
    created = await client.create(FOOS, foo("a", {"size": 1}))
    schema = msgspec.json.decode(msgspec.json.encode(FOO_SCHEMA))
    schema["properties"]["spec"]["properties"]["color"] = {"type": "string", "default": "red"}
    patch = foo_definition(schema)["spec"]
    await client.merge(FOO_CRD, {"spec": patch})
    read = await client.get(f"{FOOS}/a")
    assert read["spec"]["color"] == "red"
    assert read["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]
    assert (await client.get(FOOS))["items"][0]["spec"]["color"] == "red"


async def test_a_changed_schema_ends_the_watches_of_its_kind() -> None:
    client = await defined()
    async with client.watch(FOOS) as events:
        await client.merge(FOO_CRD, {"metadata": {"labels": {"x": "y"}}})
        await client.create(FOOS, foo("a"))
        assert await events.told() == ("ADDED", "a")
        await client.merge(FOO_CRD, {"spec": {"names": {"categories": ["all"]}}})
        assert await events.rest() == []


async def test_objects_must_be_of_their_kind_and_version() -> None:
    client = await defined()
    odd = await client.create(FOOS, {**foo("a"), "kind": "Bar"}, code=422)
    assert odd["message"] == (
        'Bar.example.com "a" is invalid: kind: Invalid value: "Bar": must be Foo'
    )
    await client.create(FOOS, {**foo("a"), "apiVersion": "v1"}, code=400)
    await client.create(FOOS, {"metadata": {"name": "a"}}, code=400)


async def test_a_kind_is_found_at_its_own_scope_only() -> None:
    client = await defined()
    for path in (
        "/apis/example.com/v1/foos/a",
        "/apis/example.com/v2/namespaces/default/foos",
        "/apis/example.com/v1/namespaces/default/bars",
    ):
        reply = await client.send("GET", path)
        assert (reply.status, reply.body) == (404, b"404 page not found\n")
    assert (await client.get("/apis/example.com/v1/foos"))["items"] == []
    missing = await client.get(f"{FOOS}/a/unknown", code=404)
    assert missing["message"] == 'foos.example.com "a" not found'


async def test_every_served_version_shows_the_same_objects() -> None:
    client = api()
    definition = foo_definition()
    newer = {**definition["spec"]["versions"][0], "name": "v2", "storage": False}
    unserved = {**newer, "name": "v3", "served": False}
    definition["spec"]["versions"] += [newer, unserved]
    await client.create(CRDS, definition)
    await client.create(FOOS, foo("a", {"size": 4}))
    other = await client.get(FOOS.replace("v1", "v2") + "/a")
    assert (other["apiVersion"], other["spec"]["size"]) == ("example.com/v2", 4)
    assert (await client.get("/apis/example.com"))["preferredVersion"]["version"] == "v2"
    reply = await client.send("GET", FOOS.replace("v1", "v3"))
    assert reply.status == 404


async def test_names_of_another_definition_cannot_be_taken() -> None:
    client = await defined()
    rival = foo_definition()
    rival["metadata"]["name"] = "bars.example.com"
    rival["spec"]["names"] = {"plural": "bars", "kind": "Foo"}
    await client.create(CRDS, rival)
    refused = await client.get(f"{CRDS}/bars.example.com")
    assert conditions(refused) == {
        "NamesAccepted": ("False", "ListKindConflict"),
        "Established": ("False", "NotAccepted"),
    }
    assert refused["status"]["acceptedNames"] == {"plural": "bars", "kind": ""}
    await client.delete(FOO_CRD)
    freed = await client.get(f"{CRDS}/bars.example.com")
    assert conditions(freed)["Established"] == ("True", "InitialNamesAccepted")


async def test_a_deleted_definition_takes_its_objects_along() -> None:
    client = await defined()
    await client.create(FOOS, foo("a"))
    async with client.watch(FOOS) as events:
        await events.next()
        answer = await client.delete(FOO_CRD)
        assert [event["type"] for event in await events.rest()] == ["DELETED"]
    assert conditions(answer)["Terminating"] == ("True", "InstanceDeletionPending")
    await client.get(FOO_CRD, code=404)
    assert (await client.send("GET", FOOS)).status == 404
    assert (await client.send("GET", "/apis/example.com")).status == 404


async def test_a_definition_waits_for_the_finalizers_of_its_objects() -> None:
    client = await defined()
    await client.create(FOOS, foo("a", finalizers=["x.y/z"]))
    await client.delete(FOO_CRD)
    dying = await client.get(FOO_CRD)
    assert conditions(dying)["Terminating"] == ("True", "InstanceDeletionInProgress")
    refused = await client.create(FOOS, foo("b"), code=403)
    assert (
        "create not allowed while custom resource definition is terminating" in refused["message"]
    )
    await client.apply(f"{FOOS}/b", foo("b"), "one", code=403)
    await client.merge(f"{FOOS}/a", {"metadata": {"finalizers": None}})
    await client.get(FOO_CRD, code=404)


async def test_a_definition_is_checked() -> None:
    client = api()
    wrong = foo_definition()
    wrong["metadata"]["name"] = "foo"
    refused = await client.create(CRDS, wrong, code=422)
    assert refused["details"]["causes"][0]["message"] == (
        'Invalid value: "foo": must be spec.names.plural+"."+spec.group'
    )
    await client.create(CRDS, foo_definition(storage=False), code=422)
    await client.create(CRDS, {"metadata": {"name": "x"}}, code=422)


async def test_custom_kinds_come_back_with_a_snapshot() -> None:
    client = await defined()
    await client.create(FOOS, foo("a"))
    saved = client.server.snapshot()
    await client.delete(FOO_CRD)
    client.server.restore(saved)
    assert await client.names(FOOS) == ["a"]
    empty = api()
    empty.server.restore(saved)
    assert await empty.names(FOOS) == ["a"]
