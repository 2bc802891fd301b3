"""Portal Expose with everything real: visitors reach a Service, whatever is taken away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import patience
from quintant.api.apps import Deployment
from quintant.api.core import Pod, Service
from quintant.operators.portal.api import PortalExpose, TunnelClass
from testbeds.portal_real import RealPortalTestbed, opened

CLASS = "/apis/portal.gosuda.org/v1alpha1/tunnelclasses/default"
EXPOSE = "/apis/portal.gosuda.org/v1alpha1/namespaces/default/portalexposes/hello"


def states(expose: PortalExpose) -> dict[str, str]:
    assert expose.status is not None
    assert expose.status.relay is not None
    return {each.name: each.status for each in expose.status.relay.connected}


class Visits:
    """Visitors who come again and again, and what they got."""

    def __init__(self) -> None:
        self.visits = 0
        self.failures: list[str] = []


@asynccontextmanager
async def visited(testbed: RealPortalTestbed, relay: str) -> AsyncIterator[Visits]:
    """Visitors through a relay, one every few milliseconds, while the context lasts."""
    visits = Visits()

    async def come() -> None:
        while True:
            try:
                code, answer = await testbed.visit(relay)
            except OSError as error:
                code, answer = 0, str(error)
            visits.visits += 1
            if code != 200:
                visits.failures.append(f"{code} {answer[:200]}")
            await asyncio.sleep(0.02)

    task = asyncio.ensure_future(come())
    try:
        yield visits
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def ready(testbed: RealPortalTestbed, *relays: str, replicas: int = 1) -> PortalExpose:
    await testbed.classed(replicas)
    await testbed.expose(*relays)
    return await testbed.phase("Ready")


async def test_visitors_reach_the_service_through_every_relay_until_it_is_gone() -> None:
    async with opened("a", "b") as testbed:
        found = await ready(testbed, "a", "b", replicas=2)
        assert found.status is not None
        assert found.status.public_url == "https://hello.a.default.svc.cluster.local:8443"
        for relay in ("a", "b"):
            code, answer = await testbed.visit(relay)
            assert code == 200
            assert '"hostname": "web"' in answer

        await testbed.merge(EXPOSE, {"spec": {"app": {"name": "renamed"}}})
        await testbed.until(
            PortalExpose,
            "hello",
            lambda it: it.status is not None and it.status.public_url.startswith("https://renamed"),
        )
        await _answers(testbed, "a", "renamed", 200)
        await _answers(testbed, "a", "hello", 404, 503)

        began = asyncio.get_running_loop().time()
        await testbed.client.delete(found)
        await testbed.client.wait_for(
            PortalExpose,
            "hello",
            "default",
            until=lambda it: it is None,
            timeout=patience.seconds(20),
        )
        assert asyncio.get_running_loop().time() - began < patience.seconds(10)
        assert await testbed.tunnels() == []
        assert (await testbed.visit("a", "renamed"))[0] in (404, 503)
        assert "Deleted" in await testbed.reasons()


async def _answers(testbed: RealPortalTestbed, relay: str, app: str, *codes: int) -> None:
    async with patience.within(30):
        while (await testbed.visit(relay, app))[0] not in codes:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def test_service_and_class_may_come_and_go_while_tunnels_stay() -> None:
    async with opened("a") as testbed:
        await ready(testbed, "a")
        before = {pod.metadata.uid for pod in await testbed.tunnels()}

        await testbed.client.delete(await testbed.client.get(Service, "web", "default"))
        await testbed.phase("Failed")
        await _answers(testbed, "a", "hello", 502)
        await testbed.serve()
        await testbed.phase("Ready")
        await _answers(testbed, "a", "hello", 200)

        await testbed.client.delete(await testbed.client.get(TunnelClass, "default"))
        await testbed.phase("Failed")
        assert (await testbed.visit("a"))[0] == 200
        await testbed.classed(1)
        await testbed.phase("Ready")
        assert {pod.metadata.uid for pod in await testbed.tunnels()} == before


async def test_lost_relays_are_told_and_return_without_a_restart() -> None:
    async with opened("a", "b") as testbed:
        await ready(testbed, "a", "b")
        lost = await testbed.client.get(Pod, "b", "default")
        await testbed.client.delete(lost, grace=0)
        found = await testbed.phase("Degraded")
        assert states(found) == {"a": "Connected", "b": "Disconnected"}
        assert found.status is not None
        assert found.status.relay is not None
        assert found.status.relay.connected[1].last_error
        assert (await testbed.visit("a"))[0] == 200

        await testbed.client.delete(await testbed.client.get(Pod, "a", "default"), grace=0)
        await testbed.phase("Failed")
        await testbed.relay("a")
        await testbed.relay("b")
        found = await testbed.phase("Ready")
        assert states(found) == {"a": "Connected", "b": "Connected"}
        (tunnel,) = await testbed.tunnels()
        assert [each.restart_count for each in tunnel.status.container_statuses] == [0]


async def test_rolling_update_under_visitors_fails_none_of_them() -> None:
    async with opened("a") as testbed:
        await ready(testbed, "a", replicas=3)
        before = {pod.metadata.uid for pod in await testbed.tunnels()}
        async with visited(testbed, "a") as visits:
            await asyncio.sleep(0.5)
            began = asyncio.get_running_loop().time()
            await testbed.merge(CLASS, {"spec": {"size": "medium"}})
            await testbed.until(
                Deployment,
                "hello-tunnel",
                lambda it: (
                    it.status.observed_generation >= it.metadata.generation
                    and it.status.updated_replicas == it.status.replicas == 3
                    and it.status.ready_replicas == 3
                ),
            )
            await testbed.phase("Ready")
            took = asyncio.get_running_loop().time() - began
            await asyncio.sleep(1)
        assert visits.failures == []
        assert visits.visits > 20
        assert took < 60
        assert not before & {pod.metadata.uid for pod in await testbed.tunnels()}
        assert "Updated" in await testbed.reasons()


async def test_killed_tunnel_of_three_degrades_it_until_it_is_back() -> None:
    async with opened("a") as testbed:
        await ready(testbed, "a", replicas=3)
        victim = (await testbed.tunnels())[0]
        for process in testbed.processes(victim):
            process.kill()
        found = await testbed.phase("Degraded")
        assert found.status is not None
        assert found.status.tunnel_pods is not None
        assert (found.status.tunnel_pods.ready, found.status.tunnel_pods.total) == (2, 3)
        assert (await testbed.visit("a"))[0] == 200
        await testbed.phase("Ready")
