"""Relays that fall silent, refuse a token, or have given the name to another: real processes."""

from __future__ import annotations

import asyncio

import patience
from quintant.api.core import Pod
from quintant.operators.portal.api import PortalExpose, RelayConnection
from testbeds.portal_real import RealPortalTestbed, opened

# A silent relay is given up after three seconds, and the status tells of it within five more.
SILENCE_SECONDS, REST_SECONDS = 3.0, 5.0
# The name of one that went is kept for 30 s, and asked for every 10 to 30 s; ten for the rest.
HANDOVER_SECONDS = 60.0


def relay(expose: PortalExpose, name: str) -> RelayConnection:
    assert expose.status is not None
    assert expose.status.relay is not None
    return next(each for each in expose.status.relay.connected if each.name == name)


def reason(expose: PortalExpose, type: str) -> str:
    assert expose.status is not None
    return next((each.reason for each in expose.status.conditions if each.type == type), "")


async def told(testbed: RealPortalTestbed, name: str, error: str) -> PortalExpose:
    """A PortalExpose once its relay says this."""
    return await testbed.until(
        PortalExpose,
        name,
        lambda it: (
            it.status is not None
            and it.status.relay is not None
            and error in it.status.relay.connected[0].last_error
        ),
    )


async def restarts(testbed: RealPortalTestbed, name: str) -> list[int]:
    pods = await testbed.tunnels(name)
    return [each.restart_count for pod in pods for each in pod.status.container_statuses]


async def test_relay_that_falls_silent_is_disconnected_soon_and_found_again() -> None:
    async with opened("a", "b") as testbed:
        await testbed.classed(1)
        await testbed.expose("a", "b")
        await testbed.phase("Ready")
        (silent,) = testbed.processes(await testbed.client.get(Pod, "b", "default"))
        began = asyncio.get_running_loop().time()
        silent.suspend()
        try:
            found = await testbed.until(
                PortalExpose, "hello", lambda it: relay(it, "b").status == "Disconnected"
            )
            took = asyncio.get_running_loop().time() - began
            assert relay(found, "a").status == "Connected"
            assert (await testbed.visit("a"))[0] == 200
        finally:
            silent.resume()
        assert took < SILENCE_SECONDS + patience.seconds(REST_SECONDS)
        found = await testbed.phase("Ready")
        assert relay(found, "b").status == "Connected"
        assert await restarts(testbed, "hello") == [0]


async def test_wrong_token_is_told_and_a_right_one_lets_new_pods_in() -> None:
    async with opened("a", tokens={"right": ["hello"]}) as testbed:
        await testbed.classed(1)
        await testbed.token("mine", "wrong")
        await testbed.expose("a", token="mine")
        found = await told(testbed, "hello", "(4401)")
        assert "wrong" not in relay(found, "a").last_error
        assert reason(found, "RelayConnected") == "NoRelayConnected"

        await testbed.token("other", "right")
        await testbed.expose("a", name="other", app="other", token="other")
        await told(testbed, "other", "(4403)")
        assert await restarts(testbed, "hello") == await restarts(testbed, "other") == [0]

        await testbed.token("mine", "right")
        for pod in await testbed.tunnels("hello"):
            await testbed.client.delete(pod, grace=0)
        await testbed.phase("Ready")
        assert (await testbed.visit("a"))[0] == 200


async def test_name_that_another_holds_is_told_and_handed_over_when_it_goes() -> None:
    async with opened("a") as testbed:
        await testbed.classed(1)
        await testbed.expose("a")
        first = await testbed.phase("Ready")
        await testbed.expose("a", name="second")
        found = await told(testbed, "second", "(4409)")
        assert relay(found, "a").status == "Disconnected"
        assert reason(found, "NameAvailable") == "NameConflict"
        assert "NameConflict" in await testbed.reasons()
        assert (await testbed.visit("a"))[0] == 200
        assert reason(await testbed.phase("Ready"), "NameAvailable") == ""

        began = asyncio.get_running_loop().time()
        await testbed.client.delete(first)
        found = await testbed.phase("Ready", "second")
        took = asyncio.get_running_loop().time() - began
        assert took < HANDOVER_SECONDS + patience.seconds(2 * REST_SECONDS)
        assert reason(found, "NameAvailable") == "NameFree"
        assert (await testbed.visit("a"))[0] == 200
