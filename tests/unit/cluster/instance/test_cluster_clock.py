"""The clock of a cluster goes on, and what is due then happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

import msgspec
import pytest

from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.controllers import cronjob
from quintant.cluster.controllers.job import ttl
from quintant.cluster.instance.cluster_clock import PATH, ClusterClock
from quintant.cluster.instance.control_plane import ControlPlane
from quintant.core.clock import AdvancedClock, LoopClock, Random, monotonic
from quintant.runtime.manager.manager import Manager
from unit.cluster.api import Api, JsonObject

BATCH = "/apis/batch/v1/namespaces/default"
EVENTS = "/api/v1/namespaces/default/events"
TOKEN = "/api/v1/namespaces/default/serviceaccounts/a/token"
TEMPLATE = {"spec": {"containers": [{"name": "a", "image": "a"}], "restartPolicy": "Never"}}
CRON = {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}}
HOUR = 3600


@asynccontextmanager
async def running() -> AsyncIterator[Api]:
    """A server with controllers that go by a clock which its administrator may advance."""
    clock = AdvancedClock(LoopClock())
    server = ApiServer(clock=clock, rbac=True)
    server.tokens.add("root", admin("root"))

    @asynccontextmanager
    async def components() -> AsyncIterator[None]:
        manager = Manager("kube-controller-manager")
        cronjob.declare(manager)
        ttl.declare(manager)
        async with run_component(server, Component(manager), clock, Random(1)):
            yield

    plane = ControlPlane(components)
    async with plane.running():
        ClusterClock(server, clock, plane.stopped).serve()
        yield Api(server, "root")


async def advance(api: Api, seconds: float) -> JsonObject:
    reply = await api.send("POST", PATH, {"advance": seconds})
    assert reply.status == 200, reply.body
    status: JsonObject = msgspec.json.decode(reply.body)
    return status


async def test_a_cron_job_starts_when_its_hour_has_come() -> None:
    async with running() as api:
        await api.create(f"{BATCH}/cronjobs", {"metadata": {"name": "a"}, "spec": CRON})
        before = monotonic()
        assert (await advance(api, 2 * HOUR))["now"].startswith("2026-01-01T02:00:")
        async with api.watch(f"{BATCH}/jobs") as jobs:
            assert (await jobs.told(10))[0] == "ADDED"
        assert monotonic() - before < 20, "nobody waited for it"


async def test_tokens_and_events_end() -> None:
    async with running() as api:
        await api.create(TOKEN.removesuffix("/a/token"), {"metadata": {"name": "a"}})
        made = await api.create(TOKEN, {"spec": {"expirationSeconds": HOUR}})
        about = {"kind": "Pod", "namespace": "default", "name": "x"}
        await api.create(EVENTS, {"metadata": {"name": "e"}, "involvedObject": about})
        assert await api.names(EVENTS) == ["e"]
        holder = Api(api.server, made["status"]["token"])
        assert (await holder.send("GET", "/version")).status == 200
        await advance(api, 2 * HOUR)
        assert (await holder.send("GET", "/version")).status == 401
        await asyncio.sleep(1)
        assert await api.names(EVENTS) == []


async def test_steps_add_up_and_none_leads_back() -> None:
    async with running() as api:
        assert await api.get(PATH) == {
            "now": "2026-01-01T00:00:00Z",
            "ahead": 0.0,
            "paused": False,
        }
        await advance(api, HOUR)
        assert (await advance(api, 1.5))["ahead"] == HOUR + 1.5
        for step in (-1, 0, 1e12, "1h", None):
            refused = await api.ask("POST", PATH, {"advance": step}, 400)
            assert refused["message"].startswith("the clock stays as it is: ")
        assert (await api.send("POST", PATH, b"no JSON")).status == 400
        assert (await api.send("DELETE", PATH)).status == 405
        assert (await api.get(PATH))["ahead"] == HOUR + 1.5


async def test_a_paused_cluster_does_nothing_until_it_is_resumed() -> None:
    async with running() as api:
        assert (await api.create(PATH, {"paused": True}, code=200))["paused"]
        await api.create(f"{BATCH}/cronjobs", {"metadata": {"name": "a"}, "spec": CRON})
        await asyncio.sleep(3 * HOUR)
        status = await api.get(PATH)
        assert status == {"now": "2026-01-01T00:00:00Z", "ahead": -3.0 * HOUR, "paused": True}
        assert await api.names(f"{BATCH}/jobs") == []
        await advance(api, 2 * HOUR)
        assert await api.names(f"{BATCH}/jobs") == []
        resumed = await api.create(PATH, {"paused": False}, code=200)
        assert (resumed["now"], resumed["ahead"]) == ("2026-01-01T02:00:00Z", -1.0 * HOUR)
        async with api.watch(f"{BATCH}/jobs") as jobs:
            assert (await jobs.told(10))[0] == "ADDED"


async def test_pausing_twice_is_pausing_once() -> None:
    async with running() as api:
        for paused in (True, True, False, False):
            status = await api.create(PATH, {"paused": paused}, code=200)
            assert status["paused"] == paused
        await api.ask("POST", PATH, {}, 400)


async def test_a_server_without_components_has_a_clock_too() -> None:
    clock = AdvancedClock(LoopClock())
    server = ApiServer(clock=clock)
    await ClusterClock(server, clock, nullcontext).advance(HOUR)
    made = await Api(server).create("/api/v1/namespaces", {"metadata": {"name": "n"}})
    assert made["metadata"]["creationTimestamp"] == "2026-01-01T01:00:00Z"
    with pytest.raises(ValueError, match="forward only"):
        clock.advance(-HOUR)
