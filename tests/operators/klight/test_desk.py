"""Who was a contact when a turn began may not be one when its turn comes: it is looked at again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from quintant.api.core import Pod
from towns.klight import Town

Change = Callable[[Town], Awaitable[None]]


async def moved(town: Town) -> None:
    """It belongs to another network now."""
    await town.label("slow", "b")


async def restarted(town: Town) -> None:
    """Its peer has forgotten everything."""
    pod = await town.cluster.get(Pod, "slow")
    await town.run("slow", pod.status.pod_ip, life=2)


async def paused(town: Town) -> None:
    """Its owner wants it left alone."""
    await town.annotate("slow", {"klight.quintant.dev/paused": "true"})


async def robbed(town: Town) -> None:
    """Its address is that of a newer pod."""
    pod = await town.cluster.get(Pod, "slow")
    await town.cluster.advance(0.5)
    await town.pod("thief", "b", ip=pod.status.pod_ip)


@pytest.mark.parametrize("change", [moved, restarted, paused, robbed])
async def test_member_that_changed_meanwhile_is_nobodys_contact(town: Town, change: Change) -> None:
    await town.start()
    await town.add("p1")
    await town.pod("slow", peer={"join_seconds": 3.0})
    await town.pod("next", peer={})
    await town.cluster.advance(1)
    contact = await town.address("slow")
    assert town.peers.joins() == [(contact, await town.address("p1"))]
    await change(town)
    await town.cluster.advance(4)
    joiner = await town.address("next")
    assert town.peers.joins(joiner) == [(joiner, await town.address("p1"))]


async def test_member_that_did_not_change_is_the_next_ones_contact(town: Town) -> None:
    await town.start()
    await town.add("p1")
    await town.pod("slow", peer={"join_seconds": 3.0})
    await town.pod("next", peer={})
    await town.cluster.advance(5)
    joiner = await town.address("next")
    assert town.peers.joins(joiner) == [(joiner, await town.address("slow"))]
