"""The reconciler's steps: found, join the newest, push, drop the dead, and no one else."""

from __future__ import annotations

import asyncio

import pytest

from quintant.api.core import Pod
from quintant.operators.klight.observed.answers import Answer
from quintant.operators.klight.options import Options
from testbeds.klight import KlightTestbed, Mood


async def test_first_pod_founds_its_network_without_a_join(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    record = await testbed.record("p1")
    assert record is not None
    assert record.joined_via == "founder"
    assert testbed.peers.joins() == []
    assert any(call.method == "check" for call in testbed.peers.calls)
    shown = await testbed.shown()
    assert shown.status is not None
    assert (shown.status.phase, shown.status.members) == ("Ready", 1)


async def test_second_pod_is_told_to_join_the_first(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    first = await testbed.address("p1")
    before = len(testbed.peers.calls)
    await testbed.add("p2")
    assert testbed.peers.joins() == [(await testbed.address("p2"), first)]
    asked = {call.method for call in testbed.peers.calls[before:] if call.address == first}
    assert asked <= {"check"}
    assert await testbed.stack() == ["p2", "p1"]


async def test_third_pod_joins_through_the_newest(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    assert testbed.peers.joins()[-1] == (await testbed.address("p3"), await testbed.address("p2"))
    assert await testbed.stack() == ["p3", "p2", "p1"]
    assert (await testbed.shown()).status.stack == tuple(  # type: ignore[union-attr]
        [await testbed.address(name) for name in ("p3", "p2", "p1")]
    )


async def test_a_pod_whose_only_container_has_another_name_is_joined(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.add("p1")
    spec = {"containers": [{"name": "my-own-service", "image": "x"}]}
    await testbed.pod("p2", peer={}, spec=spec)
    await testbed.cluster.advance(1)
    assert await testbed.stack() == ["p2", "p1"]


async def test_noise_on_joined_pods_joins_nobody_again(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    before = testbed.peers.joins()
    for number in range(50):
        await testbed.annotate("p2", {"example.dev/noise": str(number)})
    await testbed.cluster.advance(5)
    assert testbed.peers.joins() == before


async def test_a_slow_sidecar_is_joined_when_it_listens(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    late = await testbed.pod("p2", peer={"mood": Mood.DEAD})
    assert late is not None
    await testbed.cluster.advance(20)
    assert await testbed.record("p2") is None
    shown = await testbed.shown()
    assert shown.status is not None
    waiting = next(peer for peer in shown.status.peers if peer.pod == "p2")
    assert waiting.state == "Waiting"
    late.mood = Mood.SERVING
    await testbed.cluster.advance(30)
    assert await testbed.stack() == ["p2", "p1"]


async def test_nobody_is_warned_of_a_peer_that_only_starts(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    late = await testbed.pod("p2", peer={"mood": Mood.DEAD})
    assert late is not None
    await testbed.cluster.advance(3)
    late.mood = Mood.SERVING
    await testbed.cluster.advance(5)
    assert await testbed.events("p2") == ["Joined"]


async def test_refusing_head_is_dropped_and_the_next_one_used(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    testbed.peers.kill(await testbed.address("p3"))
    await testbed.pod("p4", peer={})
    await testbed.cluster.advance(1.9)
    assert testbed.peers.joins()[-1] == (await testbed.address("p4"), await testbed.address("p2"))
    assert await testbed.stack() == ["p4", "p2", "p1"]
    assert "PeerDown" in await testbed.events("p3")


async def test_silent_head_costs_a_second_and_no_more(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    testbed.peers.models[await testbed.address("p3")].mood = Mood.SILENT
    await testbed.pod("p4", peer={})
    await testbed.cluster.advance(1.2)
    assert testbed.peers.joins()[-1] == (await testbed.address("p4"), await testbed.address("p2"))
    assert (await testbed.stack())[0] == "p4"


async def test_when_all_are_dead_the_next_founds_and_they_come_back_to_it(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    for name in ("p1", "p2", "p3"):
        testbed.peers.kill(await testbed.address(name))
    await testbed.pod("p4", peer={})
    await testbed.cluster.advance(10)
    assert await testbed.stack() == ["p4"]
    assert (await testbed.record("p4")).joined_via == "founder"  # type: ignore[union-attr]
    testbed.peers.models[await testbed.address("p2")].mood = Mood.SERVING
    await testbed.cluster.advance(40)
    assert await testbed.stack() == ["p2", "p4"]
    assert testbed.peers.joins()[-1] == (await testbed.address("p2"), await testbed.address("p4"))


async def test_silent_members_are_waited_for_until_they_are_down(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    models = [testbed.peers.models[await testbed.address(name)] for name in ("p1", "p2")]
    for model in models:
        model.mood = Mood.SILENT
    await testbed.pod("p3", peer={})
    await testbed.cluster.advance(15)
    assert await testbed.stack() == ["p2", "p1"]
    models[0].mood = Mood.SERVING
    await testbed.cluster.advance(30)
    assert (await testbed.stack())[0] == "p3"
    assert testbed.peers.joins()[-1] == (await testbed.address("p3"), models[0].address)


async def test_network_of_members_that_stay_silent_is_founded_anew(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    for name in ("p1", "p2"):
        testbed.peers.models[await testbed.address(name)].mood = Mood.SILENT
    await testbed.pod("p3", peer={})
    await testbed.cluster.advance(90)
    assert await testbed.stack() == ["p3"]


async def test_joiner_dying_in_a_join_costs_no_contact(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    dying = await testbed.pod("p3", peer={"join_seconds": 3.0})
    assert dying is not None
    await testbed.cluster.advance(1.5)
    testbed.peers.kill(dying.address)
    await testbed.cluster.advance(5)
    assert await testbed.stack() == ["p2", "p1"]
    await testbed.delete("p3")
    await testbed.add("p4")
    assert await testbed.stack() == ["p4", "p2", "p1"]
    assert all(dying.address not in model.view for model in testbed.alive())


@pytest.mark.parametrize(
    "answer",
    [
        Answer("UNAVAILABLE", "Socket closed"),
        Answer("UNKNOWN", "could not process block stream: something is wrong"),
        Answer("UNKNOWN", "could not process block stream: links to invalid parent"),
        Answer("UNKNOWN", "no network update blocks found"),
        Answer("INTERNAL", "nobody knows"),
    ],
    ids=lambda answer: answer.text or answer.code,
)
async def test_broken_joiner_does_not_drain_the_stack(
    testbed: KlightTestbed, answer: Answer
) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3", "p4", "p5")
    await testbed.pod("bad", peer={"answer": answer})
    await testbed.cluster.advance(600)
    assert await testbed.stack() == ["p5", "p4", "p3", "p2", "p1"]
    moments = sorted({call.at for call in testbed.peers.calls if call.method == "join"})
    assert moments[-1] - moments[-2] > 20
    assert await testbed.record("bad") is None


async def test_refusal_by_a_live_contact_founds_no_second_network(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    text = "could not process block stream: could not send new block notifications"
    await testbed.pod("p2", peer={"answer": Answer("UNKNOWN", text)})
    shown = await testbed.shown()
    assert shown.status is not None
    assert (shown.status.phase, shown.status.members) == ("Degraded", 1)
    assert await testbed.record("p2") is None
    assert "JoinFailed" in await testbed.events("p2")


async def test_contact_out_of_the_joiners_reach_is_kept_and_another_tried(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    model = await testbed.pod("p3", peer={}, running=False, ip="10.9.9.9")
    assert model is not None
    testbed.peers.cut.add((model.address, await testbed.address("p2")))
    await testbed.run("p3", "10.9.9.9")
    await testbed.cluster.advance(1)
    assert await testbed.stack() == ["p3", "p2", "p1"]
    assert testbed.peers.joins()[-1] == (model.address, await testbed.address("p1"))


async def test_joiner_that_reaches_nobody_founds_nothing(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    model = await testbed.pod("p2", peer={}, running=False, ip="10.9.9.9")
    assert model is not None
    testbed.peers.cut.add((model.address, await testbed.address("p1")))
    await testbed.run("p2", "10.9.9.9")
    await testbed.cluster.advance(60)
    assert await testbed.stack() == ["p1"]
    assert "Unreachable" in await testbed.events("p2")
    shown = await testbed.shown()
    assert shown.status is not None
    assert await testbed.address("p1") in shown.status.conditions[0].message


async def test_join_of_unknown_outcome_is_not_repeated_while_it_may_go_on(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.add("p1")
    await testbed.pod("p2", peer={"join_seconds": 30.0})
    await testbed.cluster.advance(100)
    assert len(testbed.peers.joins()) == 1
    assert await testbed.stack() == ["p2", "p1"]
    assert [len(model.view) for model in testbed.alive()] == [2, 2]


async def test_join_that_takes_too_long_gets_more_time_the_next_time(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.add("p1")
    await testbed.pod("p2", peer={"join_seconds": 25.0, "gives_up": True})
    await testbed.cluster.advance(200)
    assert await testbed.stack() == ["p2", "p1"]
    assert len(testbed.peers.joins()) == 3


async def test_slow_join_of_another_make_ends_in_one_membership(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.pod("p1", peer={"own": False, "contents": ["x"]})
    await testbed.cluster.advance(1)
    await testbed.pod("p2", peer={"own": False, "join_seconds": 30.0})
    await testbed.cluster.advance(100)
    assert len(testbed.peers.joins()) == 1
    assert await testbed.stack() == ["p2", "p1"]
    assert [len(model.view) for model in testbed.alive()] == [2, 2]


async def test_pod_that_goes_while_others_join_is_not_called(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    await testbed.pod("slow", peer={"join_seconds": 3.0})
    await testbed.pod("gone", peer={})
    await testbed.cluster.advance(1)
    address = await testbed.address("gone")
    await testbed.cluster.client.delete(await testbed.cluster.get(Pod, "gone"), grace=0)
    await testbed.cluster.advance(10)
    assert testbed.peers.joins(address) == []
    assert await testbed.stack() == ["slow", "p1"]


async def test_hanging_peer_shows_a_failed_join_and_others_go_on(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    await testbed.pod("hung", peer={"mood": Mood.HANGING})
    await testbed.cluster.advance(12)
    assert "JoinFailed" in await testbed.events("hung")
    await testbed.add("p2")
    assert await testbed.stack() == ["p2", "p1"]


async def test_however_long_the_checks_of_many_take_somebody_is_joined(
    testbed: KlightTestbed,
) -> None:
    for number in range(200):
        await testbed.pod(f"p{number:03}", peer={"lag": 1.5})
    await testbed.start()
    await testbed.cluster.advance(60)
    assert len(await testbed.stack()) > 5


async def test_a_hanging_network_slows_no_other(testbed: KlightTestbed) -> None:
    testbed.options = Options(workers=4)
    await testbed.start()
    for number in range(3):
        await testbed.pod(f"hung{number}", "hung", peer={"mood": Mood.HANGING})
    for number in range(20):
        await testbed.pod(f"x{number}", f"net{number % 5}", peer={})
    await testbed.cluster.advance(2)
    for number in range(5):
        assert len(await testbed.stack(f"net{number}")) == 4


@pytest.mark.parametrize("seed", range(10))
async def test_of_pods_that_come_at_once_the_oldest_founds(
    testbed: KlightTestbed, seed: int
) -> None:
    await testbed.start()
    names = [f"p{number:02}" for number in range(20)]
    order = [names[(number * 7 + seed * 3) % 20] for number in range(20)]
    for number, name in enumerate(names):
        await testbed.pod(name, peer={}, running=False, ip=f"10.1.0.{number + 1}")
    async with asyncio.TaskGroup() as group:
        for name in order:
            number = names.index(name)
            group.create_task(testbed.run(name, f"10.1.0.{number + 1}"))
    await testbed.cluster.advance(30)
    stack = await testbed.stack()
    assert (len(stack), stack[-1]) == (20, "p00")
    assert len(testbed.peers.joins()) == 19
    assert all(len(model.view) == 20 for model in testbed.alive())
    assert testbed.peers.overlaps == 0


async def test_who_has_contents_founds_rather_than_the_oldest(testbed: KlightTestbed) -> None:
    await testbed.pod("old", peer={})
    await testbed.cluster.advance(2)
    await testbed.pod("rich", peer={"contents": ["kept"]})
    await testbed.start()
    await testbed.cluster.advance(5)
    assert await testbed.stack() == ["old", "rich"]
    assert all(model.contents == ["kept"] for model in testbed.alive())
