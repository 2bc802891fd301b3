"""The reconciler's steps: found, join the newest, push, drop the dead."""

from __future__ import annotations

from towns.klight import Mood, Town


async def test_first_pod_founds_its_network_without_a_join(town: Town) -> None:
    await town.start()
    await town.add("p1")
    record = await town.record("p1")
    assert record is not None
    assert record.joined_via == "founder"
    assert town.peers.joins() == []
    assert any(call.method == "check" for call in town.peers.calls)
    shown = await town.shown()
    assert shown.status is not None
    assert (shown.status.phase, shown.status.members) == ("Ready", 1)


async def test_second_pod_is_told_to_join_the_first(town: Town) -> None:
    await town.start()
    await town.add("p1")
    first = await town.address("p1")
    before = len(town.peers.calls)
    await town.add("p2")
    assert town.contacts() == [(await town.address("p2"), first)]
    asked = {call.method for call in town.peers.calls[before:] if call.address == first}
    assert asked <= {"check"}
    assert await town.stack() == ["p2", "p1"]


async def test_third_pod_joins_through_the_newest(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2", "p3")
    assert town.contacts()[-1] == (await town.address("p3"), await town.address("p2"))
    assert await town.stack() == ["p3", "p2", "p1"]


async def test_refusing_head_is_dropped_and_the_next_one_used(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2", "p3")
    town.peers.kill(await town.address("p3"))
    await town.pod("p4", peer={})
    await town.cluster.advance(1.9)
    assert town.contacts()[-1] == (await town.address("p4"), await town.address("p2"))
    assert await town.stack() == ["p4", "p2", "p1"]


async def test_silent_head_costs_a_second_and_no_more(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2", "p3")
    town.peers.models[await town.address("p3")].mood = Mood.SILENT
    await town.pod("p4", peer={})
    await town.cluster.advance(1.2)
    assert town.contacts()[-1] == (await town.address("p4"), await town.address("p2"))
    assert (await town.stack())[0] == "p4"
