"""A watch of one name tells of that object and no other, to who may see it and nobody else."""

from __future__ import annotations

import pytest

from conformance.secured_server import SecuredServer, rule
from conformance.target import Target
from unit.cluster.api import JsonObject, config_map

SOON = 5.0
"""Seconds within which a watcher hears of a write, on a busy machine."""


def _named(target: Target, plural: str, name: str = "", api: str = "v1") -> str:
    """The old path of a watch: `/api/v1/watch/namespaces/n/secrets/a`."""
    root = f"/apis/{api}" if "/" in api else f"/api/{api}"
    return target.path(plural, name, api).replace(root, f"{root}/watch", 1)


def _secret(name: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}


async def test_a_watch_by_name_shows_that_object_only(target: Target) -> None:
    since = await target.revision()
    async with target.watch(_named(target, "secrets", "a"), resourceVersion=since) as events:
        await target.create(target.path("secrets"), _secret("b"))
        await target.create(target.path("secrets"), _secret("a"))
        await target.delete(target.path("secrets", "b"))
        await target.delete(target.path("secrets", "a"))
        told = [await events.told(SOON) for _ in range(2)]
    assert told == [("ADDED", "a"), ("DELETED", "a")]


async def test_a_watch_by_name_begins_with_that_object_only(target: Target) -> None:
    for name in ("a", "b"):
        await target.create(target.path("secrets"), _secret(name))
    async with target.watch(_named(target, "secrets", "b")) as events:
        assert await events.told(SOON) == ("ADDED", "b")
        await target.delete(target.path("secrets", "a"))
        await target.delete(target.path("secrets", "b"))
        assert await events.told(SOON) == ("DELETED", "b")


async def test_a_watch_of_a_named_namespace_shows_that_one_only(target: Target) -> None:
    path = f"/api/v1/watch/namespaces/{target.namespace}"
    async with target.watch(path) as events:
        assert await events.told(SOON) == ("ADDED", target.namespace)
        label = {"metadata": {"labels": {"seen": "yes"}}}
        for name in ("default", target.namespace):
            await target.merge(f"/api/v1/namespaces/{name}", label)
        assert await events.told(SOON) == ("MODIFIED", target.namespace)


async def test_a_custom_resource_is_watched_by_name_alike(target: Target) -> None:
    kind = await target.define()
    for name in ("a", "b"):
        await target.create(kind.path(), kind.object(name))
    async with target.watch(_named(target, "foos", "b", kind.api)) as events:
        assert await events.told(SOON) == ("ADDED", "b")
        for name in ("a", "b"):
            await target.delete(kind.path(name))
        assert await events.told(SOON) == ("DELETED", "b")


@pytest.mark.parametrize("selector", ["metadata.name=b", "type=Opaque", "metadata.name!=b"])
async def test_a_watch_by_name_takes_no_other_selection(target: Target, selector: str) -> None:
    path = _named(target, "secrets", "a")
    refused = await target.get(path, code=400, fieldSelector=selector)
    assert refused["message"] == "fieldSelector metadata.name doesn't match requested name"


async def test_a_watch_by_name_may_repeat_the_name_and_choose_labels(target: Target) -> None:
    path = _named(target, "secrets", "a")
    await target.create(target.path("secrets"), _secret("a"))
    async with target.watch(path, fieldSelector="metadata.name=a") as events:
        assert await events.told(SOON) == ("ADDED", "a")
    since = await target.revision()
    async with target.watch(path, labelSelector="in=yes", resourceVersion=since) as events:
        await target.merge(target.path("secrets", "a"), {"metadata": {"labels": {"in": "no"}}})
        await target.merge(target.path("secrets", "a"), {"metadata": {"labels": {"in": "yes"}}})
        assert await events.told(SOON) == ("ADDED", "a")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_nothing_is_written_through_the_path_of_a_watch(target: Target, method: str) -> None:
    await target.create(target.path("configmaps"), config_map("a"))
    path = _named(target, "configmaps", "" if method == "POST" else "a")
    body = None if method == "DELETE" else config_map("b" if method == "POST" else "a")
    reply = await target.send(method, path, body)
    assert reply.status == 405
    assert "b" not in await target.names(target.path("configmaps"))
    assert "a" in await target.names(target.path("configmaps"))


async def test_who_may_watch_one_name_sees_no_other(secured: SecuredServer) -> None:
    alice = secured.acting("alice")
    await secured.grant(alice, rule("watch", "secrets", resourceNames=["a"]))
    for name in ("a", "b"):
        await secured.create(secured.path("secrets"), _secret(name))
    allowed = await alice.send("GET", _named(secured, "secrets", "a"), timeoutSeconds="1")
    assert allowed.status == 200
    assert b'"name":"a"' in allowed.body
    assert b'"name":"b"' not in allowed.body
    assert await alice.code("GET", _named(secured, "secrets", "b")) == 403
    assert await alice.code("GET", _named(secured, "secrets", "")) == 403
    for path in ("b", ""):
        selected = _named(secured, "secrets", path)
        code = await alice.code("GET", selected, fieldSelector="metadata.name=b")
        assert code == 403
    # Somebody who names the one in the path and the other in the query is not shown the other.
    mixed = await alice.code(
        "GET", _named(secured, "secrets", "a"), fieldSelector="metadata.name=b"
    )
    assert mixed == 400
