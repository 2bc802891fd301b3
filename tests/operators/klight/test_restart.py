"""The controller forgets nothing that matters: restarts, crashes, wiped records, lost leases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from quintant.api.core import Namespace, Pod
from quintant.core.object import ObjectMeta, replace
from quintant.operators import manager_of
from quintant.operators.klight.api import GENERATION, PeerPod
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.operators.klight.options import Options
from quintant.testing import InProcessCluster, grant, kind, verb, writes
from testbeds.klight import GATE, KlightTestbed, Mood, manager_with


async def create_many(testbed: KlightTestbed, pods: int, networks: int) -> None:
    for number in range(pods):
        await testbed.pod(f"p{number:04}", f"net{number % networks}", peer={})


async def test_restart_joins_nobody_and_keeps_every_stack(testbed: KlightTestbed) -> None:
    await testbed.start()
    await create_many(testbed, 100, 10)
    await testbed.cluster.advance(30)
    stacks = [await testbed.stack(f"net{number}") for number in range(10)]
    assert all(len(stack) == 10 for stack in stacks)
    before = len(testbed.peers.joins())
    await testbed.restart()
    await testbed.cluster.advance(5)
    assert len(testbed.peers.joins()) == before
    assert [await testbed.stack(f"net{number}") for number in range(10)] == stacks
    await testbed.pod("late", "net3", peer={})
    await testbed.cluster.advance(1)
    head = await testbed.address(stacks[3][0])
    assert testbed.peers.joins()[before:] == [(await testbed.address("late"), head)]


async def test_after_a_restart_members_are_only_checked(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    before = len(testbed.peers.calls)
    await testbed.start()
    await testbed.cluster.advance(30)
    assert {call.method for call in testbed.peers.calls[before:]} <= {"check", "status"}


@pytest.mark.parametrize("after", [0.9, 1.1, 1.3, 1.7])
async def test_crash_in_a_wave_of_joins_doubles_nobody(
    testbed: KlightTestbed, after: float
) -> None:
    await testbed.start()
    for number in range(40):
        await testbed.pod(f"p{number:02}", peer={"join_seconds": 0.05})
    await testbed.cluster.advance(after)
    await testbed.restart()
    await testbed.cluster.advance(60)
    assert len(await testbed.stack()) == 40
    assert all(len(model.view) == 40 for model in testbed.alive())
    counts = [len(testbed.peers.joins(address)) for address in testbed.peers.models]
    assert max(counts) <= 2


async def test_wiped_records_are_read_from_the_peers(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    before = len(testbed.peers.joins())
    for name in ("p1", "p2", "p3"):
        pod = await testbed.cluster.get(Pod, name)
        wiped = replace(pod, metadata=replace(pod.metadata, annotations={}))
        await testbed.cluster.client.patch(wiped, since=pod)
    await testbed.start()
    await testbed.cluster.advance(10)
    assert len(testbed.peers.joins()) == before
    assert len(await testbed.stack()) == 3


async def test_peers_of_another_make_with_equal_contents_are_adopted(
    testbed: KlightTestbed,
) -> None:
    for name in ("p1", "p2", "p3"):
        await testbed.pod(name, peer={"own": False, "contents": ["a", "b"]})
    await testbed.cluster.advance(10)
    await testbed.start()
    await testbed.cluster.advance(10)
    assert len(await testbed.stack()) == 3
    assert testbed.peers.joins() == []


@pytest.mark.parametrize("own", [True, False])
async def test_record_that_could_not_be_written_counts_all_the_same(
    testbed: KlightTestbed, own: bool
) -> None:
    await testbed.start()
    await testbed.pod("p1", peer={"own": own})
    await testbed.cluster.advance(1)
    with testbed.cluster.faults.answer(503, when=kind(PeerPod) & verb("patch")) as fault:
        await testbed.pod("p2", peer={"own": own})
        await testbed.cluster.advance(60)
    assert fault.hits
    await testbed.cluster.advance(60)
    assert len(testbed.peers.joins()) == 1
    assert await testbed.stack() == ["p2", "p1"]


async def test_vanished_network_is_shown_empty_and_then_removed(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    await testbed.shown()
    await testbed.delete("p1")
    shown = await testbed.shown()
    assert shown.status is not None
    assert shown.status.phase == "Empty"
    await testbed.cluster.wait_deleted(LightNetwork, "a", within=400)


async def test_down_member_is_dropped_and_comes_back_by_itself(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    testbed.peers.kill(await testbed.address("p2"))
    await testbed.cluster.advance(60)
    assert await testbed.stack() == ["p1"]
    shown = await testbed.shown()
    assert shown.status is not None
    assert (shown.status.phase, shown.status.down) == ("Degraded", 1)
    await testbed.cluster.advance(600)
    testbed.peers.models[await testbed.address("p2")].mood = Mood.SERVING
    await testbed.cluster.advance(40)
    assert await testbed.stack() == ["p2", "p1"]
    assert all(len(model.view) == 2 for model in testbed.alive())


async def test_one_failed_check_makes_a_suspect_and_no_more(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    model = testbed.peers.models[await testbed.address("p2")]
    model.mood = Mood.SILENT
    await testbed.cluster.advance(13)
    model.mood = Mood.SERVING
    await testbed.cluster.advance(30)
    assert await testbed.stack() == ["p2", "p1"]
    assert len(testbed.peers.joins()) == 1


async def test_server_away_for_two_minutes_doubles_and_loses_nothing(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    before = len(testbed.peers.joins())
    with testbed.cluster.faults.refuse():
        testbed.cluster.faults.cut()
        await testbed.pod("p3", peer={})
        await testbed.cluster.advance(120)
    await testbed.cluster.advance(120)
    assert len(testbed.peers.joins()) == before + 1
    assert await testbed.stack() == ["p3", "p2", "p1"]


@pytest.fixture
async def guarded() -> AsyncIterator[InProcessCluster]:
    cluster = InProcessCluster(rbac=True)
    for name in ("a", "b"):
        await cluster.client.create(Namespace(metadata=ObjectMeta(name=name)))
    yield cluster
    await cluster.close()


@pytest.mark.parametrize("namespaces", [(), ("default", "a")])
async def test_generated_roles_suffice_and_nothing_is_left_over(
    guarded: InProcessCluster, namespaces: tuple[str, ...]
) -> None:
    testbed = KlightTestbed(guarded, options=Options(gc_after=5))
    manager = manager_with(testbed.peers, testbed.options, namespaces=namespaces)
    account = await grant(guarded, manager)
    environment = guarded.environment(account.credentials)
    await guarded.run(manager, environment=environment)
    await testbed.add("p1", "p2", "p3", spec=GATE)
    await testbed.label("p2", None)
    await testbed.cluster.advance(5)
    for name in ("p1", "p3"):
        await testbed.delete(name)
    await testbed.cluster.advance(20)
    assert not account.denied()
    # Events are patched when they repeat, and kinds are listed where a server cannot stream lists.
    spare = {(held.resource, held.verb) for held in account.unused()}
    assert spare <= {
        ("events", "patch"), ("lightnetworks", "get"), ("lightnetworks", "list"), ("pods", "list")
    }  # fmt: skip


async def test_only_the_listed_namespaces_are_looked_at(guarded: InProcessCluster) -> None:
    testbed = KlightTestbed(guarded)
    manager = manager_with(testbed.peers, testbed.options, namespaces=("a",))
    account = await grant(guarded, manager)
    await guarded.run(manager, environment=guarded.environment(account.credentials))
    await testbed.add("in", namespace="a")
    await testbed.add("out", namespace="b")
    assert await testbed.stack(namespace="a") == ["in"]
    assert await testbed.record("out", "b") is None
    assert not account.denied()


async def test_equal_ids_in_two_namespaces_are_two_networks(guarded: InProcessCluster) -> None:
    testbed = KlightTestbed(guarded)
    manager = manager_with(testbed.peers)
    account = await grant(guarded, manager)
    await guarded.run(manager, environment=guarded.environment(account.credentials))
    await testbed.add("p1", namespace="a")
    await testbed.add("p2", namespace="b")
    assert testbed.peers.joins() == []


async def test_one_network_may_span_namespaces(guarded: InProcessCluster) -> None:
    testbed = KlightTestbed(guarded, options=Options(network_scope="cluster"))
    manager = manager_with(testbed.peers, testbed.options)
    account = await grant(guarded, manager)
    await guarded.run(manager, environment=guarded.environment(account.credentials))
    await testbed.add("p1", namespace="a")
    await testbed.add("p2", namespace="b")
    assert len(testbed.peers.joins()) == 1
    shown = await testbed.shown()
    assert shown.status is not None
    assert {peer.pod for peer in shown.status.peers} == {"a/p1", "b/p2"}


async def test_second_replica_takes_over_without_two_joining_at_once(
    testbed: KlightTestbed,
) -> None:
    first = await testbed.start(leader_elect=True)
    async with asyncio.timeout(60):
        second = asyncio.ensure_future(
            testbed.cluster.run(manager_with(testbed.peers, leader_elect=True), started=False)
        )
        await second
    for number in range(30):
        await testbed.pod(f"p{number:02}", peer={"join_seconds": 0.1})
    await testbed.cluster.advance(2)
    await testbed.cluster.crash(first)
    await testbed.cluster.advance(60)
    assert len(await testbed.stack()) == 30
    assert testbed.peers.overlaps == 0
    assert all(len(model.view) == 30 for model in testbed.alive())


async def test_two_operators_as_they_are_run_join_nobody_twice(testbed: KlightTestbed) -> None:
    elects = manager_of("klight").settings.leader_elect
    await testbed.start(leader_elect=elects)
    second = manager_with(testbed.peers, leader_elect=elects)
    await testbed.cluster.run(second, started=False)
    for number in range(58):
        await testbed.pod(f"p{number:02}", peer={"own": False, "join_seconds": 0.01})
    await testbed.cluster.advance(60)
    assert len(testbed.peers.joins()) == 57
    assert all(len(model.view) == 58 for model in testbed.alive())


async def test_nothing_is_written_while_nothing_happens(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    await testbed.cluster.advance(60)
    before = len(testbed.cluster.faults.seen(writes))
    await testbed.cluster.advance(600)
    assert len(testbed.cluster.faults.seen(writes)) == before


async def test_a_join_is_one_write_to_the_pod(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    before = len(testbed.cluster.faults.seen(kind(PeerPod) & writes))
    for number in range(10):
        await testbed.pod(f"q{number}", peer={})
    await testbed.cluster.advance(30)
    assert len(testbed.cluster.faults.seen(kind(PeerPod) & writes)) == before + 10


async def test_a_wave_of_joins_is_few_statuses(testbed: KlightTestbed) -> None:
    await testbed.start()
    for number in range(20):
        await testbed.pod(f"p{number:02}", peer={"join_seconds": 0.05})
    await testbed.cluster.advance(5)
    for number in range(20, 40):
        await testbed.add(f"p{number:02}") if number % 10 == 0 else await testbed.pod(
            f"p{number:02}", peer={}
        )
        await testbed.cluster.advance(0.1)
    await testbed.cluster.advance(2)
    written = testbed.cluster.faults.seen(kind(LightNetwork, sub="status") & writes)
    moments = [round(call.at, 3) for call in written]
    assert all(later - earlier > 0.99 for earlier, later in pairwise(moments))
    assert len(await testbed.stack()) == 40


async def test_generation_counts_joins(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    testbed.peers.kill(await testbed.address("p2"))
    await testbed.cluster.advance(60)
    pod = await testbed.cluster.get(Pod, "p2")
    assert pod.metadata.annotations[GENERATION] == "1"
