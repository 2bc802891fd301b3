"""Relays that fall silent, refuse a token, or have given the name to another: real processes."""

from __future__ import annotations

import asyncio

from quintant.api.core import Pod
from quintant.operators.portal.api import PortalExpose, RelayConnection
from testbeds.portal_real import Street, opened

# A silent relay is given up after three seconds, and the status tells of it within five more.
SILENCE_SECONDS = 8.0
# The name of one that went is kept for 30 s, and asked for every 10 to 30 s; ten for the rest.
HANDOVER_SECONDS = 70.0


def relay(expose: PortalExpose, name: str) -> RelayConnection:
    assert expose.status is not None
    assert expose.status.relay is not None
    return next(each for each in expose.status.relay.connected if each.name == name)


def reason(expose: PortalExpose, type: str) -> str:
    assert expose.status is not None
    return next((each.reason for each in expose.status.conditions if each.type == type), "")


async def told(street: Street, name: str, error: str) -> PortalExpose:
    """A PortalExpose once its relay says this."""
    return await street.until(
        PortalExpose,
        name,
        lambda it: (
            it.status is not None
            and it.status.relay is not None
            and error in it.status.relay.connected[0].last_error
        ),
    )


async def restarts(street: Street, name: str) -> list[int]:
    pods = await street.tunnels(name)
    return [each.restart_count for pod in pods for each in pod.status.container_statuses]


async def test_relay_that_falls_silent_is_disconnected_soon_and_found_again() -> None:
    async with opened("a", "b") as street:
        await street.classed(1)
        await street.expose("a", "b")
        await street.phase("Ready")
        (silent,) = street.processes(await street.client.get(Pod, "b", "default"))
        began = asyncio.get_running_loop().time()
        silent.suspend()
        try:
            found = await street.until(
                PortalExpose, "hello", lambda it: relay(it, "b").status == "Disconnected"
            )
            took = asyncio.get_running_loop().time() - began
            assert relay(found, "a").status == "Connected"
            assert (await street.visit("a"))[0] == 200
        finally:
            silent.resume()
        assert took < SILENCE_SECONDS
        found = await street.phase("Ready")
        assert relay(found, "b").status == "Connected"
        assert await restarts(street, "hello") == [0]


async def test_wrong_token_is_told_and_a_right_one_lets_new_pods_in() -> None:
    async with opened("a", tokens={"right": ["hello"]}) as street:
        await street.classed(1)
        await street.token("mine", "wrong")
        await street.expose("a", token="mine")
        found = await told(street, "hello", "(4401)")
        assert "wrong" not in relay(found, "a").last_error
        assert reason(found, "RelayConnected") == "NoRelayConnected"

        await street.token("other", "right")
        await street.expose("a", name="other", app="other", token="other")
        await told(street, "other", "(4403)")
        assert await restarts(street, "hello") == await restarts(street, "other") == [0]

        await street.token("mine", "right")
        for pod in await street.tunnels("hello"):
            await street.client.delete(pod, grace=0)
        await street.phase("Ready")
        assert (await street.visit("a"))[0] == 200


async def test_name_that_another_holds_is_told_and_handed_over_when_it_goes() -> None:
    async with opened("a") as street:
        await street.classed(1)
        await street.expose("a")
        first = await street.phase("Ready")
        await street.expose("a", name="second")
        found = await told(street, "second", "(4409)")
        assert relay(found, "a").status == "Disconnected"
        assert reason(found, "NameAvailable") == "NameConflict"
        assert "NameConflict" in await street.reasons()
        assert (await street.visit("a"))[0] == 200
        assert reason(await street.phase("Ready"), "NameAvailable") == ""

        began = asyncio.get_running_loop().time()
        await street.client.delete(first)
        found = await street.phase("Ready", "second")
        assert asyncio.get_running_loop().time() - began < HANDOVER_SECONDS
        assert reason(found, "NameAvailable") == "NameFree"
        assert (await street.visit("a"))[0] == 200
