"""Promises of quintant.core.dynamic, and of clients and caches that are given its kinds."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quintant import (
    Client,
    Context,
    Custom,
    KeyContext,
    Manager,
    Metadata,
    Model,
    Request,
    owned,
    resource,
)
from quintant.api.core import ConfigMap
from quintant.api.rbac import ClusterRole
from quintant.client.rest import Rest
from quintant.client.rest_mapper import AGAIN_SECONDS, RestMapper
from quintant.core.dynamic import Unstructured, dynamic
from quintant.core.errors import ConfigError, Conflict, NotFound, Undecodable
from quintant.core.object import Opaque, replace
from quintant.core.resource import is_custom_kind, resource_of
from quintant.runtime.manager.rbac import manager_rbac
from quintant.testing import InProcessCluster, named, path, verb, writes
from quintant.testing.loop import advance
from unit.runtime.scripted_transport import ScriptedTransport

JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "a", "namespace": "default", "labels": {"app": "web"}},
    "spec": {
        "backoffLimit": 3,
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "c", "image": "busybox", "args": ["x"]}],
            }
        },
    },
}


class WidgetSpec(Model):
    size: int


@resource(group="demo.dev", version="v1", status=True)
class Widget(Custom[WidgetSpec, Any]): ...


async def test_a_kind_without_a_class_is_read_written_and_deleted(
    cluster: InProcessCluster,
) -> None:
    client = cluster.client
    job_kind = await client.dynamic("batch/v1", "Job")
    made = await client.create(job_kind.of(JOB))
    assert made.at("spec", "template", "spec", "containers", 0, "image") == "busybox"
    assert made.at("spec", "parallelism") == 1, "what the server has set is there, too"

    changed = replace(made, spec=Opaque.of({**made.at("spec"), "suspend": True}))
    await client.patch(changed, since=made)
    with pytest.raises(Conflict):
        await client.patch(changed, since=made)
    found = await client.get(job_kind, "a", "default")
    assert found.at("spec", "suspend") is True
    assert found.at("spec", "backoffLimit") == 3
    assert [each.key for each in await client.list(job_kind, "default", labels={"app": "web"})] == [
        found.key
    ]
    await client.delete(found)
    assert await client.find(job_kind, "a", "default", live=True) is None


async def test_an_apply_owns_what_it_says_and_sends_nothing_twice(
    cluster: InProcessCluster,
) -> None:
    client = await counted_client(cluster)
    maps = await client.dynamic("v1", "ConfigMap")
    wanted = maps.of({"metadata": {"name": "a", "namespace": "default"}, "data": {"x": "1"}})
    sent = len(cluster.faults.seen(writes))
    for _ in range(3):
        await client.apply(wanted)
        await cluster.advance(1)
    assert len(cluster.faults.seen(writes)) == sent + 1
    await client.apply(maps.of({"metadata": {"name": "a", "namespace": "default"},
                                        "data": {"y": "2"}}))  # fmt: skip
    assert (await cluster.get(ConfigMap, "a")).data == {"y": "2"}
    assert len(cluster.faults.seen(writes)) == sent + 2


async def counted_client(cluster: InProcessCluster) -> Client:
    """A client whose requests the faults see, with a cache of dynamic ConfigMaps."""

    async def work(request: Request, ctx: KeyContext) -> None: ...

    manager = Manager("maps")
    manager.keyed("maps").watches(dynamic("v1", "ConfigMap"), to=lambda obj: []).reconcile(work)
    return (await cluster.run(manager)).client


async def test_dynamic_kinds_are_watched_cached_and_owned(cluster: InProcessCluster) -> None:
    await cluster.install(Widget)
    maps, seen = dynamic("v1", "ConfigMap"), list[Any]()

    async def reconcile(obj: Unstructured, ctx: Context[Unstructured]) -> None:
        child = maps.of({"metadata": {"name": obj.metadata.name, "namespace": "default"},
                         "data": {"size": str(obj.at("spec", "size"))}})  # fmt: skip
        await ctx.apply(owned(child, by=obj))
        seen.append([each.at("data", "size") for each in await ctx.owned(maps)])

    manager = Manager("widgets")
    manager.controls(dynamic("demo.dev/v1", "Widget")).owns(maps).reconcile(reconcile)
    await cluster.run(manager)
    listed = len(cluster.faults.seen(verb("list")))
    await cluster.create(Widget(metadata=named("a"), spec=WidgetSpec(size=3)))
    await cluster.eventually(ConfigMap, "a")
    assert (await cluster.get(ConfigMap, "a")).data == {"size": "3"}
    await cluster.client.delete(await cluster.get(ConfigMap, "a"))
    await cluster.advance(1)
    assert (await cluster.get(ConfigMap, "a")).data == {"size": "3"}
    assert seen[-1] == ["3"]
    assert len(cluster.faults.seen(verb("list"))) == listed


async def test_what_another_kind_says_wakes_keys(cluster: InProcessCluster) -> None:
    done: list[Request] = []

    async def work(request: Request, ctx: KeyContext) -> None:
        done.append(request)

    manager = Manager("keys")
    jobs = dynamic("batch/v1", "Job")
    keyed = manager.keyed("keys").watches(jobs, to=lambda job: [job.key])
    keyed.reconcile(work)
    await cluster.run(manager)
    await cluster.create(jobs.of(JOB))
    await cluster.advance(1)
    assert Request("a", "default") in done


async def test_the_server_is_asked_once_per_group_and_version(cluster: InProcessCluster) -> None:
    client = await counted_client(cluster)
    discovery = path("/apis/batch/v1")
    jobs = await client.dynamic("batch/v1", "Job")
    asked = len(cluster.faults.seen(discovery))
    assert asked == 1
    assert await client.dynamic("batch/v1", "Job") is jobs is dynamic("batch/v1", "Job")
    await client.dynamic("batch/v1", "CronJob")
    assert len(cluster.faults.seen(discovery)) == asked
    roles = await client.dynamic("rbac.authorization.k8s.io/v1", "ClusterRole", fields=["rules"])
    assert not resource_of(roles).namespaced


async def test_a_kind_that_comes_later_is_found_then(cluster: InProcessCluster) -> None:
    client = await counted_client(cluster)
    for _ in range(3):
        with pytest.raises(ConfigError, match=r"(?s)Widget of demo.dev/v1.*because: .*try: "):
            await client.dynamic("demo.dev/v1", "Widget")
    assert len(cluster.faults.seen(path("/apis/demo.dev/v1"))) == 1
    await cluster.install(Widget)
    await cluster.advance(AGAIN_SECONDS)
    assert resource_of(await client.dynamic("demo.dev/v1", "Widget")).plural == "widgets"


@pytest.mark.parametrize(
    "body",
    [b"", b"7", b"[]", b'{"resources": 7}', b'{"resources": [{"name": 1}]}', b"[" * 100_000],
)
async def test_a_discovery_that_is_none_fails_that_question_alone(body: bytes) -> None:
    server, mapper = ScriptedTransport(), RestMapper()
    for answer in (body, b'{"resources": [{"name": "jobs", "kind": "Job", "namespaced": true}]}'):
        question = asyncio.ensure_future(mapper.find(Rest(server), "batch/v1", "Job"))
        (await server.asked()).answer(answer)
        if answer is body:
            with pytest.raises((Undecodable, ConfigError)):
                await question
            await advance(AGAIN_SECONDS)
        else:
            assert (await question).plural == "jobs"


async def test_a_group_whose_discovery_hangs_keeps_nobody_from_the_others() -> None:
    server, mapper = ScriptedTransport(), RestMapper()
    first = asyncio.ensure_future(mapper.find(Rest(server), "batch/v1", "Job"))
    jobs = b'{"resources": [{"name": "jobs", "kind": "Job", "namespaced": true}]}'
    (await server.asked()).answer(jobs)
    await first
    hanging = asyncio.ensure_future(mapper.find(Rest(server), "metrics.k8s.io/v1", "PodMetrics"))
    hung = await server.asked()

    async with asyncio.timeout(1):
        assert (await mapper.find(Rest(server), "batch/v1", "Job")).plural == "jobs"
    other = asyncio.ensure_future(mapper.find(Rest(server), "apps/v1", "Deployment"))
    deployments = b'{"resources": [{"name": "deployments", "kind": "Deployment"}]}'
    async with asyncio.timeout(1):
        (await server.asked()).answer(deployments)
        assert (await other).plural == "deployments"
    hung.answer(b'{"resources": [{"name": "pods", "kind": "PodMetrics"}]}')
    assert (await hanging).plural == "pods"


@pytest.mark.parametrize("word", ["../v1", "a/b/v1", "V1", "", "batch/../v1", "batch/v1?x=y"])
async def test_no_word_leads_elsewhere(word: str) -> None:
    server = ScriptedTransport()
    with pytest.raises(ConfigError):
        await RestMapper().find(Rest(server), word, "Job")
    assert server.idle()


@pytest.mark.parametrize("field", ["metadata", "at", "key", "kind", "a-b", "a_b", "", "1a", "é"])
def test_a_field_that_no_kind_has_is_refused(field: str) -> None:
    with pytest.raises(ConfigError, match=r"(?s)because: .*try: "):
        dynamic("demo.dev/v1", "Odd", fields=[field])


def test_a_manifest_of_another_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"(?s)because: .*try: "):
        dynamic("v1", "Secret").of(JOB)


def test_a_path_that_leads_nowhere_is_the_default() -> None:
    job = dynamic("batch/v1", "Job").of(JOB)
    assert job.at("spec", "template", "nothing", "here") is None
    assert job.at("spec", "backoffLimit", "deeper", default=7) == 7
    assert job.at("status") is None
    assert job.at("metadata") is None
    assert job.at("rules", default=()) == ()


class Ready(Model):
    active: int | None = None


async def test_a_status_is_written_as_a_model(cluster: InProcessCluster) -> None:
    jobs = dynamic("batch/v1", "Job")
    made = await cluster.client.create(jobs.of(JOB))
    stored = await cluster.client.set_status(made, Ready(active=1))
    assert stored.at("status", "active") == 1
    assert (await cluster.client.get(jobs, "a", "default")).at("spec", "backoffLimit") == 3


async def test_a_role_has_what_a_dynamic_kind_needs_and_no_definition_of_it_is_made() -> None:
    async def reconcile(obj: Unstructured, ctx: Context[Unstructured]) -> None: ...

    manager = Manager("widgets")
    manager.controls(dynamic("demo.dev/v1", "Gadget")).reconcile(reconcile)
    roles = [each for each in manager_rbac(manager.settings, manager.declarations, "default")
             if isinstance(each, ClusterRole)]  # fmt: skip
    rules = [rule for role in roles for rule in role.rules or ()]
    assert any(rule.api_groups == ("demo.dev",) and "gadgets" in rule.resources for rule in rules)
    assert not any(is_custom_kind(each) for each in manager.kinds())


async def test_absent_is_absent_live_and_cached(cluster: InProcessCluster) -> None:
    with pytest.raises(NotFound):
        await cluster.client.get(await cluster.client.dynamic("v1", "Secret"), "a", "default")


async def test_metadata_alone_of_a_dynamic_kind_is_read(cluster: InProcessCluster) -> None:
    jobs = dynamic("batch/v1", "Job")
    await cluster.client.create(jobs.of(JOB))
    [found] = await cluster.client.list(Metadata[jobs], "default")  # type: ignore[valid-type]
    assert found.metadata.labels == {"app": "web"}
