"""What sees everything: handlers of raw events, indexes, and events that handlers post."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from quintant.kopf import public as kopf
from quintant.testing import InProcessCluster
from unit.kopf.kit import at_work, definition, fresh_registry, handled, with_kind

EVENTS = "/api/v1/namespaces/default/events"


async def test_raw_events_come_with_their_types(cluster: InProcessCluster) -> None:
    registry, seen = fresh_registry(), list[Any]()

    @kopf.on.event("kopfexamples")
    async def note(event: Any, type: Any, name: str, **_: Any) -> None:
        seen.append((type, name))
        assert event["type"] == type
        assert event["object"]["metadata"]["name"] == name
        raise ValueError("and nothing comes of it")

    examples = await with_kind(cluster)
    await examples.create("old", spec={})
    async with at_work(cluster, registry):
        await asyncio.sleep(1)
        await examples.create("new", spec={})
        await asyncio.sleep(1)
        await examples.patch({"spec": {"x": 1}}, "new")
        await asyncio.sleep(1)
        await examples.delete("new")
        await asyncio.sleep(1)
    assert seen == [(None, "old"), ("ADDED", "new"), ("MODIFIED", "new"), ("DELETED", "new")]


async def test_an_index_is_whole_before_the_first_handler(cluster: InProcessCluster) -> None:
    registry, seen = fresh_registry(), list[Any]()

    @kopf.index("kopfexamples", id="by_color")
    async def by_color(spec: Any, name: str, **_: Any) -> Any:
        return {spec["color"]: name}

    @kopf.on.event("kopfexamples")
    async def note(by_color: Any, **_: Any) -> None:
        seen.append({key: sorted(names) for key, names in by_color.items()})

    examples = await with_kind(cluster)
    for name, color in (("a", "red"), ("b", "red"), ("c", "blue")):
        await examples.create(name, spec={"color": color})
    async with at_work(cluster, registry):
        await asyncio.sleep(2)
        assert seen == [{"red": ["a", "b"], "blue": ["c"]}] * 3
        await examples.patch({"spec": {"color": "blue"}}, "a")
        await asyncio.sleep(1)
        await examples.delete("c")
        await asyncio.sleep(1)
    assert seen[-2:] == [{"red": ["b"], "blue": ["a", "c"]}, {"red": ["b"], "blue": ["a"]}]


async def test_events_are_posted_about_the_object(cluster: InProcessCluster) -> None:
    registry = fresh_registry()

    @kopf.on.startup()
    def configure(settings: Any, **_: Any) -> None:
        settings.posting.level = logging.WARNING

    @kopf.on.create("kopfexamples")
    def create(body: Any, **_: Any) -> None:
        kopf.event(body, type="Odd", reason="One", message="1")
        kopf.info(body, reason="Silent", message="2")
        kopf.warn(body, reason="Two", message="3")
        try:
            raise RuntimeError("broken")
        except RuntimeError:
            kopf.exception(body, message="it is")

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={})
        await examples.eventually(handled)
        await asyncio.sleep(1)
        found = (await examples.ask("GET", EVENTS))["items"]
    assert {(each["type"], each["reason"], each["message"]) for each in found} == {
        ("Odd", "One", "1"), ("Warning", "Two", "3"), ("Error", "RuntimeError", "it is broken"),
    }  # fmt: skip
    assert {each["involvedObject"]["name"] for each in found} == {"a"}


async def test_a_kind_that_comes_later_is_followed(cluster: InProcessCluster) -> None:
    registry, seen = fresh_registry(), list[str]()

    @kopf.on.create("latecomers")
    def late(name: str, **_: Any) -> None:
        seen.append(name)

    @kopf.on.create("kopfexamples")
    def early(**_: Any) -> None: ...

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        await examples.ask("POST", path, definition("latecomers", "Latecomer"))
        body = {"apiVersion": "kopf.dev/v1", "kind": "Latecomer", "metadata": {"name": "l"}}
        await asyncio.sleep(5)
        await examples.ask("POST", "/apis/kopf.dev/v1/namespaces/default/latecomers", body)
        await asyncio.sleep(5)
    assert seen == ["l"]


async def test_only_the_namespaces_that_are_named_are_followed(cluster: InProcessCluster) -> None:
    registry, seen = fresh_registry(), list[str]()

    @kopf.on.event("", "v1", "configmaps")
    async def note(namespace: str, **_: Any) -> None:
        seen.append(namespace)

    examples = await with_kind(cluster)

    async def add(namespace: str) -> None:
        meta = {"name": namespace}
        await examples.ask("POST", "/api/v1/namespaces", {"metadata": meta})
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
        await examples.ask("POST", f"/api/v1/namespaces/{namespace}/configmaps", body)

    await add("team-a")
    async with at_work(cluster, registry, namespaces=("team-*,!team-x", "plain")):
        for namespace in ("team-b", "team-x", "plain", "other"):
            await add(namespace)
        await asyncio.sleep(10)
    assert sorted(set(seen)) == ["plain", "team-a", "team-b"]


NAMES = (
    ("kex",),
    ("KopfExample",),
    ("kopf.dev", "kopfexamples"),
    ("kopf.dev/v1", "kopfexamples"),
    ("kopf.dev", "v1", "kopfexamples"),
    ("kopfexamples.v1.kopf.dev",),
    ("kopfexamples.kopf.dev",),
)


@pytest.mark.parametrize("words", NAMES)
async def test_a_resource_is_found_by_any_of_its_names(
    cluster: InProcessCluster, words: tuple[str, ...]
) -> None:
    registry, seen = fresh_registry(), list[str]()

    @kopf.on.event(*words)
    async def note(resource: Any, **_: Any) -> None:
        seen.append(resource.plural)

    examples = await with_kind(cluster)
    await examples.create(spec={})
    async with at_work(cluster, registry):
        await asyncio.sleep(1)
    assert seen == ["kopfexamples"]
