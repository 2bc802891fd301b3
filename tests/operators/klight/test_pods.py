"""What pods do, and what the controller makes of it: deletions, restarts, moves, addresses."""

from __future__ import annotations

import pytest

from quintant.api.core import Pod
from quintant.api.events import Event
from quintant.core.errors import Invalid
from quintant.operators.klight.api import PAUSED
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.operators.klight.observed.answers import Answer
from quintant.testing import InProcessCluster, path, writes
from quintant.testing.simulate.remotes.peers import ModelledPeers
from testbeds.klight import GATE, NET, KlightTestbed, Mood


async def test_two_networks_never_meet(testbed: KlightTestbed) -> None:
    await testbed.start()
    for number in range(6):
        await testbed.pod(f"p{number}", "xy"[number % 2], peer={})
    await testbed.cluster.advance(3)
    homes = {await testbed.address(f"p{number}"): number % 2 for number in range(6)}
    assert all(homes[joiner] == homes[contact] for joiner, contact in testbed.peers.joins())
    assert len(await testbed.stack("x")) == len(await testbed.stack("y")) == 3
    assert (await testbed.shown("x")).spec.network_id == "x"


async def test_deleted_pod_is_off_the_stack_and_never_checked_again(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    gone = await testbed.address("p3")
    await testbed.delete("p3")
    await testbed.cluster.advance(1)
    before = len(testbed.peers.calls)
    await testbed.add("p4")
    await testbed.cluster.advance(30)
    assert await testbed.stack() == ["p4", "p2", "p1"]
    assert all(call.address != gone for call in testbed.peers.calls[before:])
    shown = await testbed.shown()
    assert shown.status is not None
    assert gone not in shown.status.stack


async def test_terminating_pod_is_neither_joined_nor_a_contact(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    for name in ("p2", "p3"):
        await testbed.pod(name, peer={}, finalizers=["test.dev/hold"], running=name == "p2")
        await testbed.cluster.advance(1)
        await testbed.cluster.client.delete(await testbed.cluster.get(Pod, name))
    await testbed.run("p3", "10.7.7.7")
    await testbed.pod("p4", peer={})
    await testbed.cluster.advance(2)
    assert testbed.peers.joins()[-1] == (await testbed.address("p4"), await testbed.address("p1"))
    assert await testbed.record("p3") is None


async def test_address_that_went_to_a_new_pod_is_joined_as_that_pod(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    address, ip = await testbed.address("p2"), (await testbed.cluster.get(Pod, "p2")).status.pod_ip
    testbed.peers.add(address)
    await testbed.pod("p9", ip=ip)
    await testbed.cluster.advance(2)
    assert testbed.peers.joins(address)[-1] == (address, await testbed.address("p1"))
    record = await testbed.record("p9")
    assert record is not None
    assert (await testbed.cluster.get(Pod, "p9")).metadata.uid in record.incarnation


async def test_address_that_went_to_another_network_is_no_contact(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p0", "p1")
    address, ip = await testbed.address("p1"), (await testbed.cluster.get(Pod, "p1")).status.pod_ip
    testbed.peers.add(address)
    await testbed.pod("p7", "b", ip=ip)
    await testbed.pod("p8", peer={})
    await testbed.cluster.advance(2)
    assert testbed.peers.joins(await testbed.address("p8")) == [
        (await testbed.address("p8"), await testbed.address("p0"))
    ]
    assert testbed.peers.joins(address) == [(address, await testbed.address("p0"))]
    assert (await testbed.record("p7")).joined_via == "founder"  # type: ignore[union-attr]


async def test_restarted_container_is_joined_once_more(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    pod = await testbed.cluster.get(Pod, "p2")
    address = await testbed.address("p2")
    testbed.peers.add(address)
    await testbed.run("p2", pod.status.pod_ip, life=2)
    await testbed.cluster.advance(2)
    assert len(testbed.peers.joins(address)) == 2
    assert await testbed.stack() == ["p2", "p3", "p1"]
    assert (await testbed.record("p2")).generation == 2  # type: ignore[union-attr]
    assert all(sorted(set(model.view)) == sorted(model.view) for model in testbed.alive())


async def test_restart_of_another_make_waits_until_it_is_forgotten(testbed: KlightTestbed) -> None:
    await testbed.start()
    for name in ("p1", "p2", "p3"):
        await testbed.pod(name, peer={"own": False})
        await testbed.cluster.advance(1)
    pod, address = await testbed.cluster.get(Pod, "p2"), await testbed.address("p2")
    testbed.peers.kill(address)
    await testbed.cluster.advance(2)
    testbed.peers.add(address, own=False)
    await testbed.run("p2", pod.status.pod_ip, life=2)
    await testbed.cluster.advance(10)
    assert len(testbed.peers.joins(address)) == 2
    assert all(sorted(set(model.view)) == sorted(model.view) for model in testbed.alive())


async def test_relabelled_pod_leaves_one_network_and_joins_the_other(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.add("x1", "x2", network="x")
    await testbed.add("y1", network="y")
    moving = await testbed.address("x2")
    await testbed.label("x2", "y")
    await testbed.cluster.advance(2)
    assert await testbed.stack("x") == ["x1"]
    assert await testbed.stack("y") == ["x2", "y1"]
    assert moving not in testbed.peers.models[await testbed.address("x1")].view
    assert len(testbed.peers.joins(moving)) == 2
    assert (await testbed.record("x2")).network == "default/y"  # type: ignore[union-attr]
    assert "Moved" in await testbed.events("x2")
    assert [(await testbed.shown(net)).status.members for net in "xy"] == [1, 2]  # type: ignore[union-attr]


async def test_pod_that_loses_its_label_leaves(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    await testbed.label("p2", None)
    await testbed.cluster.advance(2)
    assert await testbed.record("p2") is None
    assert testbed.peers.models[await testbed.address("p1")].view == [await testbed.address("p1")]
    assert "Left" in await testbed.events("p2")


def states(shown: LightNetwork) -> dict[str, str]:
    return {each.pod: each.state for each in shown.status.peers} if shown.status else {}


class Reluctant(ModelledPeers):
    """Peers that do not leave when they are first told to, nor at the second time."""

    told = 0

    async def leave(self, address: str, reason: str, within: float) -> Answer:
        self.told += 1
        if self.told <= 2:
            return Answer("UNAVAILABLE", "Socket closed")
        return await super().leave(address, reason, within)


@pytest.mark.parametrize("crashes", [False, True])
async def test_pod_without_its_label_is_told_to_leave_until_it_has_left(
    cluster: InProcessCluster, crashes: bool
) -> None:
    testbed = KlightTestbed(cluster, Reluctant())
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    await testbed.label("p2", None)
    await testbed.cluster.eventually(
        LightNetwork, NET, until=lambda it: states(it).get("p2") == "Moving", within=5
    )
    if crashes:
        await testbed.restart()
    await testbed.cluster.advance(60)
    left = testbed.peers.models[await testbed.address("p2")]
    assert left.view == [left.address]
    assert await testbed.record("p2") is None
    assert states(await testbed.shown()).keys() == {"p1", "p3"}


async def test_last_pod_without_its_label_is_told_to_leave_until_it_has_left(
    cluster: InProcessCluster,
) -> None:
    testbed = KlightTestbed(cluster, Reluctant())
    await testbed.start()
    await testbed.add("p1")
    await testbed.label("p1", None)
    await testbed.cluster.advance(60)
    assert await testbed.record("p1") is None


async def test_record_of_a_pod_that_left_is_cleared_although_the_server_meets_a_conflict(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    await testbed.label("p2", None)
    refused = testbed.cluster.faults.answer(409, when=path("*/pods/p2/status") & writes, times=1)
    await testbed.cluster.advance(60)
    assert refused.hits == 1
    assert await testbed.record("p2") is None


async def test_label_lost_while_nobody_looked_is_noticed_later(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    await testbed.shown()
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    await testbed.label("p2", None)
    await testbed.start()
    await testbed.cluster.advance(2)
    assert await testbed.record("p2") is None
    assert testbed.peers.models[await testbed.address("p1")].view == [await testbed.address("p1")]


async def test_pod_that_changes_its_mind_ends_in_one_membership(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("x1", "x2", network="x")
    await testbed.add("y1", network="y")
    await testbed.label("x2", "y")
    await testbed.label("x2", "x")
    await testbed.cluster.advance(5)
    assert sorted(await testbed.stack("x")) == ["x1", "x2"]
    assert await testbed.stack("y") == ["y1"]
    views = [testbed.peers.models[await testbed.address(name)].view for name in ("x1", "x2")]
    assert [len(view) for view in views] == [2, 2]


async def test_another_make_cannot_leave_and_its_owner_is_told(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.pod("x1", "x", peer={"own": False})
    await testbed.cluster.advance(1)
    await testbed.pod("x2", "x", peer={"own": False})
    await testbed.cluster.advance(1)
    await testbed.label("x2", "y")
    await testbed.cluster.advance(10)
    assert "StillListed" in await testbed.events("x2")
    assert await testbed.stack("y") == ["x2"]


async def test_pod_that_asks_for_it_is_ready_only_as_a_member(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1")
    late = await testbed.pod("p2", peer={"mood": Mood.DEAD}, spec=GATE)
    assert late is not None
    await testbed.cluster.advance(2)
    assert (await testbed.joined("p1"), await testbed.joined("p2")) == (None, "False")
    late.mood = Mood.SERVING
    await testbed.cluster.advance(30)
    assert await testbed.joined("p2") == "True"
    await testbed.label("p2", None)
    await testbed.cluster.advance(2)
    assert await testbed.joined("p2") == "False"


async def test_finished_pod_is_off_the_stack_and_a_pending_one_is_not_on_it(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.add("p1", "job")
    pod = await testbed.cluster.get(Pod, "job")
    await testbed.run("job", pod.status.pod_ip, phase="Succeeded")
    await testbed.pod("waits", peer={}, running=False, ip="10.8.8.8")
    await testbed.run("waits", "10.8.8.8", phase="Pending")
    shown = await testbed.shown()
    assert shown.status is not None
    assert shown.status.stack == (await testbed.address("p1"),)


async def test_host_network_pods_need_ports_of_their_own(testbed: KlightTestbed) -> None:
    await testbed.start()

    def spec(port: int) -> dict[str, object]:
        ports = [{"name": "klight", "containerPort": port, "hostPort": port}]
        containers = [{"name": "lightpeer", "image": "x", "ports": ports}]
        return {"hostNetwork": True, "containers": containers}

    for name, port in (("h1", 9081), ("h2", 9082), ("h3", 9081)):
        testbed.peers.add(f"192.168.0.1:{port}") if name != "h3" else None
        await testbed.pod(name, ip="192.168.0.1", spec=spec(port))
        await testbed.cluster.advance(2)
    assert await testbed.stack() == ["h2", "h1"]
    assert "AddressConflict" in await testbed.events("h3")


async def test_ipv6_addresses_have_brackets(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.pod("p1", ip="fd00::1", peer={})
    await testbed.cluster.advance(1)
    await testbed.pod("p2", ip="fd00::2", peer={})
    await testbed.cluster.advance(1)
    assert testbed.peers.joins() == [("[fd00::2]:9081", "[fd00::1]:9081")]


async def test_empty_label_is_no_network(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.pod("p1", "", peer={})
    await testbed.cluster.advance(2)
    assert testbed.peers.calls == []
    assert "InvalidNetworkID" in await testbed.events("p1")


@pytest.mark.parametrize("value", ["x" * 64, "no spaces", "-x"])
async def test_the_server_refuses_labels_that_are_no_values(
    testbed: KlightTestbed, value: str
) -> None:
    with pytest.raises(Invalid):
        await testbed.pod("p1", value)


async def test_ids_that_differ_in_case_are_two_networks(testbed: KlightTestbed) -> None:
    await testbed.start()
    for number, network in enumerate(["Net", "net", "a.b_c", "N" * 63]):
        await testbed.add(f"p{number}", network=network)
        assert (await testbed.shown(network)).spec.network_id == network
    assert testbed.peers.joins() == []


async def test_pod_without_anything_listening_blocks_nobody(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.pod("empty", peer=None)
    await testbed.cluster.advance(1)
    await testbed.add("p1", "p2")
    await testbed.cluster.advance(300)
    assert await testbed.stack() == ["p2", "p1"]
    assert (await testbed.events("empty")).count("Waiting") == 1
    told = await testbed.cluster.client.list(Event, "default")
    waiting = next(each for each in told if each.reason == "Waiting")
    assert waiting.series is None or waiting.series.count <= 6


@pytest.mark.parametrize("mood", [Mood.FOREIGN, Mood.IMPOSTOR])
async def test_something_else_on_the_port_is_named(testbed: KlightTestbed, mood: Mood) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    await testbed.pod("odd", peer={"mood": mood})
    await testbed.cluster.advance(60)
    assert await testbed.stack() == ["p2", "p1"]
    assert "NotALightpeer" in await testbed.events("odd")


async def test_impostor_that_came_first_is_dropped_when_somebody_is_sent_to_it(
    testbed: KlightTestbed,
) -> None:
    await testbed.start()
    await testbed.pod("odd", peer={"mood": Mood.IMPOSTOR})
    await testbed.cluster.advance(2)
    await testbed.add("p1", "p2")
    assert await testbed.stack() == ["p2", "p1"]
    assert "NotALightpeer" in await testbed.events("odd")


async def test_the_servers_refuse_the_documented_port_name_and_take_the_others(
    testbed: KlightTestbed,
) -> None:
    def spec(name: str) -> dict[str, object]:
        ports = [{"name": name, "containerPort": 7000}]
        return {"containers": [{"name": "x", "image": "x", "ports": ports}]}

    await testbed.start()
    with pytest.raises(Invalid):
        await testbed.pod("p0", spec=spec("klightPort"))
    for name in ("klightport", "klight-port", "klight"):
        model = await testbed.pod(name, network=name, peer={}, spec=spec(name))
        assert model is not None
        assert model.address.endswith(":7000")
        await testbed.cluster.advance(1)
        assert await testbed.stack(name) == [name]


async def test_expired_watch_joins_nobody_again(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    before = testbed.peers.joins()
    testbed.cluster.faults.fail(410)
    await testbed.cluster.advance(10)
    testbed.cluster.faults.cut()
    await testbed.cluster.advance(10)
    assert testbed.peers.joins() == before
    await testbed.add("p3")
    assert await testbed.stack() == ["p3", "p2", "p1"]


async def test_whoever_lost_all_its_members_waits_for_them_a_moment(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    pods = {name: await testbed.cluster.get(Pod, name) for name in ("p1", "p2")}
    where = {name: await testbed.address(name) for name in pods}
    for address in where.values():
        testbed.peers.kill(address)
    for name, kept in (("p1", []), ("p2", ["acknowledged"])):
        testbed.peers.add(where[name], contents=kept)
        await testbed.run(name, pods[name].status.pod_ip, life=2)
        await testbed.cluster.advance(3)
    await testbed.cluster.advance(5)
    assert await testbed.stack() == ["p1", "p2"]
    assert all(model.contents == ["acknowledged"] for model in testbed.alive())


async def test_label_that_goes_takes_our_annotations_along(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    await testbed.annotate("p2", {"mine": "stays", PAUSED: "false"})
    await testbed.label("p2", None)
    await testbed.cluster.advance(5)
    pod = await testbed.cluster.get(Pod, "p2")
    assert pod.metadata.annotations == {"mine": "stays", PAUSED: "false"}


async def test_so_it_does_on_a_pod_that_was_no_member_any_more(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    testbed.peers.kill(await testbed.address("p2"))
    await testbed.cluster.advance(60)
    assert await testbed.record("p2") is None
    await testbed.label("p2", None)
    await testbed.cluster.advance(15)
    pod = await testbed.cluster.get(Pod, "p2")
    assert pod.metadata.annotations == {}
    assert "Left" not in await testbed.events("p2")


async def test_two_pods_with_one_address_are_told_so(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.pod("old", ip="10.9.9.9", peer={})
    await testbed.cluster.advance(2)
    await testbed.pod("new", ip="10.9.9.9", peer={})
    await testbed.cluster.advance(15)
    assert "AddressConflict" in await testbed.events("old")
    assert "AddressConflict" not in await testbed.events("new")


async def test_network_has_events_of_its_own(testbed: KlightTestbed) -> None:
    await testbed.start()
    await testbed.add("p1", "p2")
    await testbed.cluster.advance(5)
    assert await testbed.events("a") == ["Forming", "Ready"]
    testbed.peers.kill(await testbed.address("p2"))
    await testbed.cluster.advance(60)
    assert set(await testbed.events("a")) == {"Forming", "Ready", "Degraded"}
