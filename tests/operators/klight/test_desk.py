"""Who was a contact when a turn began may not be one when its turn comes: it is looked at again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from quintant.api.core import Pod
from quintant.operators.klight.api import PAUSED
from testbeds.klight import Town

Change = Callable[[Town], Awaitable[None]]


async def moved(town: Town) -> None:
    """It belongs to another network now."""
    await town.label("p2", "b")


async def restarted(town: Town) -> None:
    """Its peer has forgotten everything."""
    pod = await town.cluster.get(Pod, "p2")
    await town.run("p2", pod.status.pod_ip, life=2)


async def paused(town: Town) -> None:
    """Its owner wants it left alone."""
    await town.annotate("p2", {PAUSED: "true"})


async def robbed(town: Town) -> None:
    """Its address is that of a newer pod."""
    pod = await town.cluster.get(Pod, "p2")
    await town.pod("thief", "b", ip=pod.status.pod_ip)


async def nothing(town: Town) -> None:
    """It is who it was."""


@pytest.mark.parametrize(
    ("change", "contact"),
    [(moved, "p1"), (restarted, "p1"), (paused, "p1"), (robbed, "p1"), (nothing, "p2")],
)
async def test_member_that_changed_in_a_turn_is_no_contact_in_it(
    town: Town, change: Change, contact: str
) -> None:
    await town.start()
    await town.add("p1")
    assert town.engine is not None
    await town.cluster.crash(town.engine)
    await town.pod("p2", peer={"join_seconds": 3.0})
    await town.pod("p3", peer={})
    await town.start()
    await town.cluster.advance(1.5)
    assert town.peers.joins() == [(await town.address("p2"), await town.address("p1"))]
    where = {name: await town.address(name) for name in ("p1", "p2", "p3")}
    await change(town)
    await town.cluster.advance(2)
    assert town.peers.joins(where["p3"]) == [(where["p3"], where[contact])]
