"""Who was a contact when a turn began may not be one when its turn comes: it is looked at again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from quintant.api.core import Pod
from quintant.operators.klight.api import PAUSED
from testbeds.klight import KlightTestbed

Change = Callable[[KlightTestbed], Awaitable[None]]


async def moved(testbed: KlightTestbed) -> None:
    """It belongs to another network now."""
    await testbed.label("p2", "b")


async def restarted(testbed: KlightTestbed) -> None:
    """Its peer has forgotten everything."""
    pod = await testbed.cluster.get(Pod, "p2")
    await testbed.run("p2", pod.status.pod_ip, life=2)


async def paused(testbed: KlightTestbed) -> None:
    """Its owner wants it left alone."""
    await testbed.annotate("p2", {PAUSED: "true"})


async def robbed(testbed: KlightTestbed) -> None:
    """Its address is that of a newer pod."""
    pod = await testbed.cluster.get(Pod, "p2")
    await testbed.pod("thief", "b", ip=pod.status.pod_ip)


async def nothing(testbed: KlightTestbed) -> None:
    """It is who it was."""


@pytest.mark.parametrize(
    ("change", "contact"),
    [(moved, "p1"), (restarted, "p1"), (paused, "p1"), (robbed, "p1"), (nothing, "p2")],
)
async def test_member_that_changed_in_a_turn_is_no_contact_in_it(
    testbed: KlightTestbed, change: Change, contact: str
) -> None:
    await testbed.start()
    await testbed.add("p1")
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    await testbed.pod("p2", peer={"join_seconds": 3.0})
    await testbed.pod("p3", peer={})
    await testbed.start()
    await testbed.cluster.advance(1.5)
    assert testbed.peers.joins() == [(await testbed.address("p2"), await testbed.address("p1"))]
    where = {name: await testbed.address(name) for name in ("p1", "p2", "p3")}
    await change(testbed)
    await testbed.cluster.advance(2)
    assert testbed.peers.joins(where["p3"]) == [(where["p3"], where[contact])]
