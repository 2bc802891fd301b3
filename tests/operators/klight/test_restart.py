"""The controller forgets nothing that matters: restarts, crashes, wiped records, lost leases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from quintant.api.core import Namespace, Pod
from quintant.core.object import ObjectMeta, replace
from quintant.operators.klight.api import GENERATION, LightNetwork, PeerPod
from quintant.operators.klight.options import Options
from quintant.testing import InProcessCluster, grant, kind, verb, writes
from testbeds.klight import GATE, Mood, Town, manager_with


async def crowd(town: Town, pods: int, networks: int) -> None:
    for number in range(pods):
        await town.pod(f"p{number:04}", f"net{number % networks}", peer={})


async def test_restart_joins_nobody_and_keeps_every_stack(town: Town) -> None:
    await town.start()
    await crowd(town, 100, 10)
    await town.cluster.advance(30)
    stacks = [await town.stack(f"net{number}") for number in range(10)]
    assert all(len(stack) == 10 for stack in stacks)
    before = len(town.peers.joins())
    await town.restart()
    await town.cluster.advance(5)
    assert len(town.peers.joins()) == before
    assert [await town.stack(f"net{number}") for number in range(10)] == stacks
    await town.pod("late", "net3", peer={})
    await town.cluster.advance(1)
    head = await town.address(stacks[3][0])
    assert town.peers.joins()[before:] == [(await town.address("late"), head)]


async def test_after_a_restart_members_are_only_checked(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2", "p3")
    assert town.engine is not None
    await town.cluster.crash(town.engine)
    before = len(town.peers.calls)
    await town.start()
    await town.cluster.advance(30)
    assert {call.method for call in town.peers.calls[before:]} <= {"check", "status"}


@pytest.mark.parametrize("after", [0.9, 1.1, 1.3, 1.7])
async def test_crash_in_a_wave_of_joins_doubles_nobody(town: Town, after: float) -> None:
    await town.start()
    for number in range(40):
        await town.pod(f"p{number:02}", peer={"join_seconds": 0.05})
    await town.cluster.advance(after)
    await town.restart()
    await town.cluster.advance(60)
    assert len(await town.stack()) == 40
    assert all(len(model.view) == 40 for model in town.alive())
    counts = [len(town.peers.joins(address)) for address in town.peers.models]
    assert max(counts) <= 2


async def test_wiped_records_are_read_from_the_peers(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2", "p3")
    assert town.engine is not None
    await town.cluster.crash(town.engine)
    before = len(town.peers.joins())
    for name in ("p1", "p2", "p3"):
        pod = await town.cluster.get(Pod, name)
        wiped = replace(pod, metadata=replace(pod.metadata, annotations={}))
        await town.cluster.client.patch(wiped, since=pod)
    await town.start()
    await town.cluster.advance(10)
    assert len(town.peers.joins()) == before
    assert len(await town.stack()) == 3


async def test_peers_of_another_make_with_equal_contents_are_adopted(town: Town) -> None:
    for name in ("p1", "p2", "p3"):
        await town.pod(name, peer={"own": False, "contents": ["a", "b"]})
    await town.cluster.advance(10)
    await town.start()
    await town.cluster.advance(10)
    assert len(await town.stack()) == 3
    assert town.peers.joins() == []


@pytest.mark.parametrize("own", [True, False])
async def test_record_that_could_not_be_written_counts_all_the_same(town: Town, own: bool) -> None:
    await town.start()
    await town.pod("p1", peer={"own": own})
    await town.cluster.advance(1)
    with town.cluster.faults.answer(503, when=kind(PeerPod) & verb("patch")) as fault:
        await town.pod("p2", peer={"own": own})
        await town.cluster.advance(60)
    assert fault.hits
    await town.cluster.advance(60)
    assert len(town.peers.joins()) == 1
    assert await town.stack() == ["p2", "p1"]


async def test_vanished_network_is_shown_empty_and_then_removed(town: Town) -> None:
    await town.start()
    await town.add("p1")
    await town.shown()
    await town.delete("p1")
    shown = await town.shown()
    assert shown.status is not None
    assert shown.status.phase == "Empty"
    await town.cluster.gone(LightNetwork, "a", within=400)


async def test_down_member_is_dropped_and_comes_back_by_itself(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2")
    town.peers.kill(await town.address("p2"))
    await town.cluster.advance(60)
    assert await town.stack() == ["p1"]
    shown = await town.shown()
    assert shown.status is not None
    assert (shown.status.phase, shown.status.down) == ("Degraded", 1)
    await town.cluster.advance(600)
    town.peers.models[await town.address("p2")].mood = Mood.SERVING
    await town.cluster.advance(40)
    assert await town.stack() == ["p2", "p1"]
    assert all(len(model.view) == 2 for model in town.alive())


async def test_one_failed_check_makes_a_suspect_and_no_more(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2")
    model = town.peers.models[await town.address("p2")]
    model.mood = Mood.SILENT
    await town.cluster.advance(13)
    model.mood = Mood.SERVING
    await town.cluster.advance(30)
    assert await town.stack() == ["p2", "p1"]
    assert len(town.peers.joins()) == 1


async def test_server_away_for_two_minutes_doubles_and_loses_nothing(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2")
    before = len(town.peers.joins())
    with town.cluster.faults.refuse():
        town.cluster.faults.cut()
        await town.pod("p3", peer={})
        await town.cluster.advance(120)
    await town.cluster.advance(120)
    assert len(town.peers.joins()) == before + 1
    assert await town.stack() == ["p3", "p2", "p1"]


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
    town = Town(guarded, options=Options(gc_after=5))
    manager = manager_with(town.peers, town.options, namespaces=namespaces)
    account = await grant(guarded, manager)
    environment = guarded.environment(account.credentials)
    await guarded.run(manager, environment=environment)
    await town.add("p1", "p2", "p3", spec=GATE)
    await town.label("p2", None)
    await town.cluster.advance(5)
    for name in ("p1", "p3"):
        await town.delete(name)
    await town.cluster.advance(20)
    assert not account.denied()
    # Events are patched when they repeat, and kinds are listed where a server cannot stream lists.
    spare = {(held.resource, held.verb) for held in account.unused()}
    assert spare <= {
        ("events", "patch"), ("lightnetworks", "get"), ("lightnetworks", "list"), ("pods", "list")
    }  # fmt: skip


async def test_only_the_listed_namespaces_are_looked_at(guarded: InProcessCluster) -> None:
    town = Town(guarded)
    manager = manager_with(town.peers, town.options, namespaces=("a",))
    account = await grant(guarded, manager)
    await guarded.run(manager, environment=guarded.environment(account.credentials))
    await town.add("in", namespace="a")
    await town.add("out", namespace="b")
    assert await town.stack(namespace="a") == ["in"]
    assert await town.record("out", "b") is None
    assert not account.denied()


async def test_equal_ids_in_two_namespaces_are_two_networks(guarded: InProcessCluster) -> None:
    town = Town(guarded)
    manager = manager_with(town.peers)
    account = await grant(guarded, manager)
    await guarded.run(manager, environment=guarded.environment(account.credentials))
    await town.add("p1", namespace="a")
    await town.add("p2", namespace="b")
    assert town.peers.joins() == []


async def test_one_network_may_span_namespaces(guarded: InProcessCluster) -> None:
    town = Town(guarded, options=Options(network_scope="cluster"))
    manager = manager_with(town.peers, town.options)
    account = await grant(guarded, manager)
    await guarded.run(manager, environment=guarded.environment(account.credentials))
    await town.add("p1", namespace="a")
    await town.add("p2", namespace="b")
    assert len(town.peers.joins()) == 1
    shown = await town.shown()
    assert shown.status is not None
    assert {peer.pod for peer in shown.status.peers} == {"a/p1", "b/p2"}


async def test_second_replica_takes_over_without_two_joining_at_once(town: Town) -> None:
    first = await town.start(leader_elect=True)
    async with asyncio.timeout(60):
        second = asyncio.ensure_future(
            town.cluster.run(manager_with(town.peers, leader_elect=True), started=False)
        )
        await second
    for number in range(30):
        await town.pod(f"p{number:02}", peer={"join_seconds": 0.1})
    await town.cluster.advance(2)
    await town.cluster.crash(first)
    await town.cluster.advance(60)
    assert len(await town.stack()) == 30
    assert town.peers.overlaps == 0
    assert all(len(model.view) == 30 for model in town.alive())


async def test_nothing_is_written_while_nothing_happens(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2", "p3")
    await town.cluster.advance(60)
    before = len(town.cluster.faults.seen(writes))
    await town.cluster.advance(600)
    assert len(town.cluster.faults.seen(writes)) == before


async def test_a_join_is_one_write_to_the_pod(town: Town) -> None:
    await town.start()
    await town.add("p1")
    before = len(town.cluster.faults.seen(kind(PeerPod) & writes))
    for number in range(10):
        await town.pod(f"q{number}", peer={})
    await town.cluster.advance(30)
    assert len(town.cluster.faults.seen(kind(PeerPod) & writes)) == before + 10


async def test_a_wave_of_joins_is_few_statuses(town: Town) -> None:
    await town.start()
    for number in range(20):
        await town.pod(f"p{number:02}", peer={"join_seconds": 0.05})
    await town.cluster.advance(5)
    for number in range(20, 40):
        await town.add(f"p{number:02}") if number % 10 == 0 else await town.pod(
            f"p{number:02}", peer={}
        )
        await town.cluster.advance(0.1)
    await town.cluster.advance(2)
    written = town.cluster.faults.seen(kind(LightNetwork, sub="status") & writes)
    moments = [round(call.at, 3) for call in written]
    assert all(later - earlier > 0.99 for earlier, later in pairwise(moments))
    assert len(await town.stack()) == 40


async def test_generation_counts_joins(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2")
    town.peers.kill(await town.address("p2"))
    await town.cluster.advance(60)
    pod = await town.cluster.get(Pod, "p2")
    assert pod.metadata.annotations[GENERATION] == "1"
