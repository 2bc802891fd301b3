from __future__ import annotations

import asyncio

import pytest

from quintant.api.core import ConfigMap, Namespace
from quintant.client.transport import ApiRequest, InProcessTransport
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.user import User
from quintant.core.clock import timestamp
from quintant.core.errors import NotFound
from quintant.testing import InProcessCluster, World, named, run, settle
from scenarios.greeter import Greeter, greeter

CMS = "/api/v1/namespaces/default/configmaps"
DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/greeters.demo.dev"


async def prepared() -> World:
    cluster = InProcessCluster()
    await cluster.create(greeter("a"))
    cluster.server.tokens.add("robot", User("robot"))
    return cluster.snapshot()


async def everything(cluster: InProcessCluster) -> list[bytes]:
    """The cluster's contents, as a client sees them."""
    kinds = [(kind.resource.group, kind.resource.version, kind.name) for kind in _stored(cluster)]
    paths = [f"/apis/{group}/{version}/{name}" for group, version, name in kinds if group]
    paths += [f"/api/{version}/{name}" for group, version, name in kinds if not group]
    return [(await cluster.admin.request(ApiRequest("GET", path))).body for path in sorted(paths)]


def _stored(cluster: InProcessCluster) -> list[Kind]:
    return [kind for kind in cluster.server.catalog if not kind.create_only]


async def test_a_cluster_begins_with_what_was_prepared() -> None:
    cluster = InProcessCluster(world=await prepared())
    assert (await cluster.get(Greeter, "a")).spec == greeter("a").spec
    await cluster.create(greeter("b"))
    verbs = [(record.verb, record.resource) for record in cluster.server.audit]
    assert verbs == [("get", "greeters"), ("create", "greeters")]


async def test_nothing_that_is_done_in_a_cluster_reaches_another() -> None:
    world = await prepared()
    untouched = await everything(InProcessCluster(world=world))
    one, other = InProcessCluster(world=world), InProcessCluster(world=world)
    await one.client.delete(await one.get(Greeter, "a"))
    await one.create(ConfigMap(metadata=named("c"), data={"k": "v"}))
    await one.client.create(Namespace(metadata=named("n", "")))
    assert (await one.admin.request(ApiRequest("DELETE", DEFINITION))).status == 200
    one.server.tokens.add("thief", User("thief"))
    one.server.tokens.revoke("robot")
    assert await everything(other) == untouched
    assert await everything(InProcessCluster(world=world)) == untouched
    assert other.server.tokens.find("thief") is None
    assert other.server.tokens.find("robot") is not None
    with pytest.raises(NotFound):
        await one.get(Greeter, "a")


async def test_a_watch_of_one_cluster_hears_nothing_of_another() -> None:
    world = await prepared()
    one, other = InProcessCluster(world=world), InProcessCluster(world=world)
    async with one.admin.stream(ApiRequest("GET", CMS, {"watch": "true"})) as stream:
        await other.create(ConfigMap(metadata=named("there")))
        await one.create(ConfigMap(metadata=named("here")))
        assert b'"name":"here"' in await anext(stream.chunks)
    assert (one.server.watches, other.server.watches) == (0, 0)


async def test_the_order_of_tests_shows_in_nothing() -> None:
    world = await prepared()

    async def test() -> list[bytes]:
        cluster = InProcessCluster(world=world)
        await cluster.create(greeter("b"))
        return await everything(cluster)

    first = await test()
    for name in ("x", "y", "z"):
        await InProcessCluster(world=world).create(ConfigMap(metadata=named(name)))
    assert await test() == first


async def test_no_id_is_given_twice() -> None:
    cluster = InProcessCluster(world=await prepared())
    created = await cluster.create(greeter("b"))
    assert created.metadata.uid != (await cluster.get(Greeter, "a")).metadata.uid


def test_a_world_outlives_the_loop_it_was_made_on() -> None:
    world = run(prepared())

    async def test() -> str:
        cluster = InProcessCluster(world=world)
        async with asyncio.timeout(5):
            return (await cluster.eventually(Greeter, "a")).metadata.uid

    assert run(test()) == run(test())


async def test_time_does_not_pass_before_a_test_begins() -> None:
    await asyncio.sleep(3600)
    cluster = InProcessCluster()
    found = await cluster.client.get(Namespace, "default", "")
    assert found.metadata.creation_timestamp == timestamp(cluster.clock.epoch)


async def test_a_token_that_was_issued_in_a_cluster_is_good_there_only() -> None:
    world = await prepared()
    one, other = InProcessCluster(world=world), InProcessCluster(world=world)
    account = b'{"metadata":{"name":"robot"}}'
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    headers = {"content-type": "application/json"}
    for cluster in (one, other):
        await cluster.admin.request(ApiRequest("POST", accounts, {}, headers, account))
    issued = await one.admin.request(
        ApiRequest("POST", f"{accounts}/robot/token", {}, headers, b'{"spec":{}}')
    )
    token = issued.body.partition(b'"token":"')[2].partition(b'"')[0].decode()
    version = ApiRequest("GET", "/version")
    assert (await InProcessTransport(one.server, token).request(version)).status == 200
    assert (await InProcessTransport(other.server, token).request(version)).status == 401
    await settle()


async def test_a_restored_cluster_is_what_it_was_and_its_fork_is_not() -> None:
    cluster = InProcessCluster(seed=3)
    await cluster.create(greeter("a"))
    before = cluster.snapshot()
    await cluster.create(ConfigMap(metadata=named("later")))
    fork = cluster.fork()
    cluster.restore(before)
    await cluster.create(greeter("b"))
    with pytest.raises(NotFound):
        await cluster.get(ConfigMap, "later")
    assert (await fork.get(ConfigMap, "later")).metadata.name == "later"
    with pytest.raises(NotFound):
        await fork.get(Greeter, "b")
