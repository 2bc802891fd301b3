"""Peers of another make cannot tell who joined them: what was begun stands on the pod."""

from __future__ import annotations

import pytest

from quintant.api.core import Pod
from quintant.operators.klight.api import JOINING, PeerPod
from quintant.operators.klight.observed.answers import Answer
from quintant.testing import kind, writes
from testbeds.klight import KlightTestbed, Mood, manager_with

ORIGINAL = {"own": False}


async def crash_while_joining(testbed: KlightTestbed, **traits: object) -> str:
    """A member, and a pod whose join had begun when the controller died; where that pod is."""
    await testbed.start()
    await testbed.pod("p1", peer=dict(ORIGINAL))
    await testbed.cluster.advance(2)
    await testbed.pod("p2", peer={**ORIGINAL, **traits})
    await testbed.cluster.advance(2)
    address = await testbed.address("p2")
    assert len(testbed.peers.joins(address)) == 1
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    model = testbed.peers.models[address]
    model.mute, model.mood = False, Mood.SERVING
    return address


async def intent(testbed: KlightTestbed, name: str) -> str | None:
    pod = await testbed.cluster.get(Pod, name)
    return pod.metadata.annotations.get(JOINING)


async def test_crash_between_a_join_and_its_record_joins_nobody_twice(
    testbed: KlightTestbed,
) -> None:
    address = await crash_while_joining(testbed, mute=True)
    assert await intent(testbed, "p2") is not None
    await testbed.start()
    await testbed.cluster.advance(120)
    assert len(testbed.peers.joins(address)) == 1
    assert await testbed.stack() == ["p2", "p1"]
    assert all(len(model.view) == len(set(model.view)) == 2 for model in testbed.alive())
    assert testbed.peers.persist(address, "x")
    assert await intent(testbed, "p2") is None


async def test_crash_before_a_join_took_effect_joins_after_the_restart(
    testbed: KlightTestbed,
) -> None:
    address = await crash_while_joining(testbed, mood=Mood.HANGING)
    await testbed.start()
    await testbed.cluster.advance(120)
    assert len(testbed.peers.joins(address)) == 2
    assert await testbed.stack() == ["p2", "p1"]
    assert all(len(model.view) == 2 for model in testbed.alive())


async def test_intent_is_found_by_a_network_in_which_somebody_writes(
    testbed: KlightTestbed,
) -> None:
    address = await crash_while_joining(testbed, mute=True)
    assert testbed.peers.persist(address, "x")
    await testbed.start()
    await testbed.cluster.advance(60)
    assert len(testbed.peers.joins(address)) == 1
    assert await testbed.stack() == ["p2", "p1"]


async def test_records_that_were_wiped_join_no_original_twice(testbed: KlightTestbed) -> None:
    await testbed.start()
    for name in ("p1", "p2", "p3"):
        await testbed.pod(name, peer=dict(ORIGINAL))
        await testbed.cluster.advance(2)
    before = len(testbed.peers.joins())
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    for name in ("p1", "p2", "p3"):
        await testbed.wipe(name)
    await testbed.cluster.advance(5)
    await testbed.start()
    await testbed.cluster.advance(60)
    assert len(testbed.peers.joins()) == before
    assert len(await testbed.stack()) == 3


async def test_join_that_was_refused_leaves_no_intent(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.pod("p1", peer=dict(ORIGINAL))
    await testbed.cluster.advance(2)
    refuses = Answer("UNKNOWN", "could not process block stream: links to invalid parent")
    await testbed.pod("p2", peer={**ORIGINAL, "answer": refuses})
    await testbed.cluster.advance(5)
    assert testbed.peers.joins()
    assert await intent(testbed, "p2") is None


@pytest.mark.parametrize(("own", "cost"), [(True, 1), (False, 2)])
async def test_intent_costs_one_write_and_only_of_those_who_cannot_tell(
    testbed: KlightTestbed, own: bool, cost: int
) -> None:
    await testbed.start()
    await testbed.add("p1")
    await testbed.cluster.advance(2)
    before = len(testbed.cluster.faults.seen(kind(PeerPod) & writes))
    await testbed.pod("p2", peer={"own": own})
    await testbed.cluster.advance(30)
    assert len(testbed.cluster.faults.seen(kind(PeerPod) & writes)) == before + cost


@pytest.mark.parametrize("after", [0.5, 2, 4, 5.5])
async def test_crash_during_a_slow_join_joins_nobody_twice(
    testbed: KlightTestbed, after: float
) -> None:
    """A peer goes on joining, though whoever asked it is gone."""
    await testbed.start()
    await testbed.pod("p1", peer=dict(ORIGINAL))
    await testbed.cluster.advance(2)
    await testbed.pod("p2", peer={**ORIGINAL, "join_seconds": 6})
    await testbed.cluster.advance(0.1)
    address = await testbed.address("p2")
    assert len(testbed.peers.joins(address)) == 1
    await testbed.cluster.advance(after)
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    testbed.peers.finish_join(address, await testbed.address("p1"), 5.9 - after)
    await testbed.start()
    await testbed.cluster.advance(120)
    assert len(testbed.peers.joins(address)) == 1
    assert all(len(model.view) == len(set(model.view)) == 2 for model in testbed.alive())
    assert await testbed.stack() == ["p2", "p1"]
    assert testbed.peers.persist(address, "x")


async def test_two_controllers_without_a_lease_double_no_original_and_say_so(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.cluster.run(manager_with(testbed.peers))
    for number in range(40):
        await testbed.pod(f"p{number:02}", peer={**ORIGINAL, "join_seconds": 0.05})
    await testbed.cluster.advance(120)
    assert len(await testbed.stack()) == 40
    joins = [each for each, _ in testbed.peers.joins()]
    assert sorted(joins) == sorted(set(joins))
    told = {each for number in range(40) for each in await testbed.events(f"p{number:02}")}
    assert "JoinUnderWay" in told
