"""A network that has come apart is shown as split, and mended when somebody asks."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.core.object import replace
from quintant.operators.klight.api import PeerPod
from quintant.operators.klight.api.lightnetwork import REPAIR, LightNetwork
from quintant.operators.klight.options import Options
from quintant.testing import kind, verb
from testbeds.klight import KlightTestbed, manager_with


async def torn(testbed: KlightTestbed) -> None:
    """Five members, of which two see only each other."""
    await testbed.add("p1", "p2", "p3", "p4", "p5")
    names = [await testbed.address(f"p{number}") for number in range(1, 6)]
    for name in names:
        part = names[:2] if name in names[:2] else names[2:]
        model = testbed.peers.models[name]
        model.view, model.contents = list(part), [f"of {part[0]}"]


async def change(testbed: KlightTestbed, request: str = "now", **spec: Any) -> None:
    shown = await testbed.shown()
    meta = replace(shown.metadata, annotations={REPAIR: request})
    changed = replace(shown, metadata=meta, spec=replace(shown.spec, **spec))
    await testbed.cluster.client.patch(changed, since=shown)


async def status(testbed: KlightTestbed) -> Any:
    return (await testbed.shown()).status


async def test_split_is_shown_and_left_alone_until_a_repair_is_asked_for(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await torn(testbed)
    before = len(testbed.peers.joins())
    await testbed.cluster.advance(60)
    assert (await status(testbed)).phase == "Split"
    assert len(testbed.peers.joins()) == before
    await change(testbed)
    await testbed.cluster.advance(30)
    assert (await status(testbed)).phase == "Ready"
    assert [len(model.view) for model in testbed.alive()] == [5] * 5
    assert all(len(model.contents) == 2 for model in testbed.alive())
    assert "Repaired" in await testbed.events("p1")


async def test_one_request_is_one_repair(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    await change(testbed)
    await testbed.cluster.advance(5)
    assert (await status(testbed)).repair_handled == "now"
    before = len([call for call in testbed.peers.calls if call.method == "status"])
    await testbed.cluster.advance(25)
    after = len([call for call in testbed.peers.calls if call.method == "status"])
    assert after - before <= 4


async def test_request_to_a_paused_network_waits_until_it_goes_on(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    await change(testbed)
    await testbed.cluster.advance(5)
    await change(testbed, "again", paused=True)
    await testbed.cluster.advance(30)
    assert (await status(testbed)).repair_handled == "now"
    await change(testbed, "again", paused=False)
    await testbed.cluster.advance(30)
    assert (await status(testbed)).repair_handled == "again"


async def test_request_is_not_done_with_by_a_replica_that_is_behind(
    testbed: KlightTestbed,
) -> None:
    """It has seen two of five members when it takes over, and hears of no others."""
    first = await testbed.start(leader_elect=True)
    await torn(testbed)
    await testbed.cluster.advance(60)
    await testbed.cluster.crash(first)
    for name in ("p3", "p4", "p5"):
        await testbed.label(name, None)
    behind = manager_with(testbed.peers, leader_elect=True)
    await testbed.cluster.run(behind, started=False)
    await testbed.cluster.advance(1)
    testbed.cluster.faults.stall(kind(PeerPod) & verb("watch"))
    for name in ("p3", "p4", "p5"):
        await testbed.label(name, "a")
    await change(testbed)
    await testbed.cluster.advance(60)
    assert (await status(testbed)).repair_handled == "now"
    assert [len(model.view) for model in testbed.alive()] == [5] * 5


async def test_split_is_mended_at_once_where_that_is_wanted(testbed: KlightTestbed) -> None:
    testbed.options = Options(repair="auto")
    await testbed.start()
    await torn(testbed)
    await testbed.cluster.advance(60)
    assert [len(model.view) for model in testbed.alive()] == [5] * 5


async def test_nothing_is_repaired_where_it_is_off(testbed: KlightTestbed) -> None:
    await testbed.start()
    await torn(testbed)
    await change(testbed, repair="off")
    before = len(testbed.peers.joins())
    await testbed.cluster.advance(60)
    assert len(testbed.peers.joins()) == before


async def test_paused_network_takes_nobody(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    await change(testbed, paused=True)
    await testbed.add("p2")
    await testbed.cluster.advance(10)
    assert await testbed.stack() == ["p1"]
    shown = await testbed.cluster.get(LightNetwork, "a")
    await testbed.cluster.client.patch(
        replace(shown, spec=replace(shown.spec, paused=False)), since=shown
    )
    await testbed.cluster.advance(10)
    assert await testbed.stack() == ["p2", "p1"]


@pytest.mark.parametrize("network", ["a"])
async def test_columns_show_what_matters(testbed: KlightTestbed, network: str) -> None:
    from quintant.core.schema.crd import crd

    columns = crd(LightNetwork)["spec"]["versions"][0]["additionalPrinterColumns"]
    assert [each["name"] for each in columns] == [
        "ID", "Phase", "Members", "Ready", "Pending", "Contact", "Age"
    ]  # fmt: skip
