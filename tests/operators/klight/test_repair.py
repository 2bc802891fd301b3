"""A network that has come apart is shown as split, and mended when somebody asks."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.core.object import replace
from quintant.operators.klight.api import REPAIR, LightNetwork
from quintant.operators.klight.options import Options
from testbeds.klight import Town


async def torn(town: Town) -> None:
    """Five members, of which two see only each other."""
    await town.add("p1", "p2", "p3", "p4", "p5")
    names = [await town.address(f"p{number}") for number in range(1, 6)]
    for name in names:
        part = names[:2] if name in names[:2] else names[2:]
        model = town.peers.models[name]
        model.view, model.contents = list(part), [f"of {part[0]}"]


async def change(town: Town, **spec: Any) -> None:
    shown = await town.shown()
    meta = replace(shown.metadata, annotations={REPAIR: "now"})
    changed = replace(shown, metadata=meta, spec=replace(shown.spec, **spec))
    await town.cluster.client.patch(changed, since=shown)


async def status(town: Town) -> Any:
    return (await town.shown()).status


async def test_split_is_shown_and_left_alone_until_a_repair_is_asked_for(town: Town) -> None:
    await town.start()
    await torn(town)
    before = len(town.peers.joins())
    await town.cluster.advance(60)
    assert (await status(town)).phase == "Split"
    assert len(town.peers.joins()) == before
    await change(town)
    await town.cluster.advance(30)
    assert (await status(town)).phase == "Ready"
    assert all(len(model.view) == 5 for model in town.alive())
    assert all(len(model.contents) == 2 for model in town.alive())
    assert "Repaired" in await town.events("p1")


async def test_one_request_is_one_repair(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2")
    await change(town)
    await town.cluster.advance(5)
    assert (await status(town)).repair_handled == "now"
    before = len([call for call in town.peers.calls if call.method == "status"])
    await town.cluster.advance(25)
    after = len([call for call in town.peers.calls if call.method == "status"])
    assert after - before <= 4


async def test_split_is_mended_at_once_where_that_is_wanted(town: Town) -> None:
    town.options = Options(repair="auto")
    await town.start()
    await torn(town)
    await town.cluster.advance(60)
    assert all(len(model.view) == 5 for model in town.alive())


async def test_nothing_is_repaired_where_it_is_off(town: Town) -> None:
    await town.start()
    await torn(town)
    await change(town, repair="off")
    before = len(town.peers.joins())
    await town.cluster.advance(60)
    assert len(town.peers.joins()) == before


async def test_paused_network_takes_nobody(town: Town) -> None:
    await town.start()
    await town.add("p1")
    await change(town, paused=True)
    await town.add("p2")
    await town.cluster.advance(10)
    assert await town.stack() == ["p1"]
    shown = await town.cluster.get(LightNetwork, "a")
    await town.cluster.client.patch(
        replace(shown, spec=replace(shown.spec, paused=False)), since=shown
    )
    await town.cluster.advance(10)
    assert await town.stack() == ["p2", "p1"]


@pytest.mark.parametrize("network", ["a"])
async def test_columns_show_what_matters(town: Town, network: str) -> None:
    from quintant.core.crd import crd

    columns = crd(LightNetwork)["spec"]["versions"][0]["additionalPrinterColumns"]
    assert [each["name"] for each in columns] == [
        "ID", "Phase", "Members", "Ready", "Pending", "Contact", "Age"
    ]  # fmt: skip
