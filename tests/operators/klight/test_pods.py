"""What pods do, and what the controller makes of it: deletions, restarts, moves, addresses."""

from __future__ import annotations

import pytest

from quintant.api.core import Pod
from quintant.api.events import Event
from quintant.core.errors import Invalid
from testbeds.klight import GATE, Mood, Town


async def test_two_networks_never_meet(town: Town) -> None:
    await town.start()
    for number in range(6):
        await town.pod(f"p{number}", "xy"[number % 2], peer={})
    await town.cluster.advance(3)
    homes = {await town.address(f"p{number}"): number % 2 for number in range(6)}
    assert all(homes[joiner] == homes[contact] for joiner, contact in town.peers.joins())
    assert len(await town.stack("x")) == len(await town.stack("y")) == 3
    assert (await town.shown("x")).spec.network_id == "x"


async def test_deleted_pod_is_off_the_stack_and_never_checked_again(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2", "p3")
    gone = await town.address("p3")
    await town.delete("p3")
    await town.cluster.advance(1)
    before = len(town.peers.calls)
    await town.add("p4")
    await town.cluster.advance(30)
    assert await town.stack() == ["p4", "p2", "p1"]
    assert all(call.address != gone for call in town.peers.calls[before:])
    shown = await town.shown()
    assert shown.status is not None
    assert gone not in shown.status.stack


async def test_terminating_pod_is_neither_joined_nor_a_contact(town: Town) -> None:
    await town.start()
    await town.add("p1")
    for name in ("p2", "p3"):
        await town.pod(name, peer={}, finalizers=["test.dev/hold"], running=name == "p2")
        await town.cluster.advance(1)
        await town.cluster.client.delete(await town.cluster.get(Pod, name))
    await town.run("p3", "10.7.7.7")
    await town.pod("p4", peer={})
    await town.cluster.advance(2)
    assert town.peers.joins()[-1] == (await town.address("p4"), await town.address("p1"))
    assert await town.record("p3") is None


async def test_address_that_went_to_a_new_pod_is_joined_as_that_pod(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2")
    address, ip = await town.address("p2"), (await town.cluster.get(Pod, "p2")).status.pod_ip
    town.peers.add(address)
    await town.pod("p9", ip=ip)
    await town.cluster.advance(2)
    assert town.peers.joins(address)[-1] == (address, await town.address("p1"))
    record = await town.record("p9")
    assert record is not None
    assert (await town.cluster.get(Pod, "p9")).metadata.uid in record.incarnation


async def test_address_that_went_to_another_network_is_no_contact(town: Town) -> None:
    await town.start()
    await town.add("p0", "p1")
    address, ip = await town.address("p1"), (await town.cluster.get(Pod, "p1")).status.pod_ip
    town.peers.add(address)
    await town.pod("p7", "b", ip=ip)
    await town.pod("p8", peer={})
    await town.cluster.advance(2)
    assert town.peers.joins(await town.address("p8")) == [
        (await town.address("p8"), await town.address("p0"))
    ]
    assert town.peers.joins(address) == [(address, await town.address("p0"))]
    assert (await town.record("p7")).joined_via == "founder"  # type: ignore[union-attr]


async def test_restarted_container_is_joined_once_more(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2", "p3")
    pod = await town.cluster.get(Pod, "p2")
    address = await town.address("p2")
    town.peers.add(address)
    await town.run("p2", pod.status.pod_ip, life=2)
    await town.cluster.advance(2)
    assert len(town.peers.joins(address)) == 2
    assert await town.stack() == ["p2", "p3", "p1"]
    assert (await town.record("p2")).generation == 2  # type: ignore[union-attr]
    assert all(sorted(set(model.view)) == sorted(model.view) for model in town.alive())


async def test_restart_of_another_make_waits_until_it_is_forgotten(town: Town) -> None:
    await town.start()
    for name in ("p1", "p2", "p3"):
        await town.pod(name, peer={"own": False})
        await town.cluster.advance(1)
    pod, address = await town.cluster.get(Pod, "p2"), await town.address("p2")
    town.peers.kill(address)
    await town.cluster.advance(2)
    town.peers.add(address, own=False)
    await town.run("p2", pod.status.pod_ip, life=2)
    await town.cluster.advance(10)
    assert len(town.peers.joins(address)) == 2
    assert all(sorted(set(model.view)) == sorted(model.view) for model in town.alive())


async def test_relabelled_pod_leaves_one_network_and_joins_the_other(town: Town) -> None:
    await town.start()
    await town.add("x1", "x2", network="x")
    await town.add("y1", network="y")
    moving = await town.address("x2")
    await town.label("x2", "y")
    await town.cluster.advance(2)
    assert await town.stack("x") == ["x1"]
    assert await town.stack("y") == ["x2", "y1"]
    assert moving not in town.peers.models[await town.address("x1")].view
    assert len(town.peers.joins(moving)) == 2
    assert (await town.record("x2")).network == "default/y"  # type: ignore[union-attr]
    assert "Moved" in await town.events("x2")
    assert [(await town.shown(net)).status.members for net in "xy"] == [1, 2]  # type: ignore[union-attr]


async def test_pod_that_loses_its_label_leaves(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2")
    await town.label("p2", None)
    await town.cluster.advance(2)
    assert await town.record("p2") is None
    assert town.peers.models[await town.address("p1")].view == [await town.address("p1")]
    assert "Left" in await town.events("p2")


async def test_label_lost_while_nobody_looked_is_noticed_later(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2")
    await town.shown()
    assert town.engine is not None
    await town.cluster.crash(town.engine)
    await town.label("p2", None)
    await town.start()
    await town.cluster.advance(2)
    assert await town.record("p2") is None
    assert town.peers.models[await town.address("p1")].view == [await town.address("p1")]


async def test_pod_that_changes_its_mind_ends_in_one_membership(town: Town) -> None:
    await town.start()
    await town.add("x1", "x2", network="x")
    await town.add("y1", network="y")
    await town.label("x2", "y")
    await town.label("x2", "x")
    await town.cluster.advance(5)
    assert sorted(await town.stack("x")) == ["x1", "x2"]
    assert await town.stack("y") == ["y1"]
    views = [town.peers.models[await town.address(name)].view for name in ("x1", "x2")]
    assert [len(view) for view in views] == [2, 2]


async def test_another_make_cannot_leave_and_its_owner_is_told(town: Town) -> None:
    await town.start()
    await town.pod("x1", "x", peer={"own": False})
    await town.cluster.advance(1)
    await town.pod("x2", "x", peer={"own": False})
    await town.cluster.advance(1)
    await town.label("x2", "y")
    await town.cluster.advance(10)
    assert "StillListed" in await town.events("x2")
    assert await town.stack("y") == ["x2"]


async def test_pod_that_asks_for_it_is_ready_only_as_a_member(town: Town) -> None:
    await town.start()
    await town.add("p1")
    late = await town.pod("p2", peer={"mood": Mood.DEAD}, spec=GATE)
    assert late is not None
    await town.cluster.advance(2)
    assert (await town.joined("p1"), await town.joined("p2")) == (None, "False")
    late.mood = Mood.SERVING
    await town.cluster.advance(30)
    assert await town.joined("p2") == "True"
    await town.label("p2", None)
    await town.cluster.advance(2)
    assert await town.joined("p2") == "False"


async def test_finished_pod_is_off_the_stack_and_a_pending_one_is_not_on_it(town: Town) -> None:
    await town.start()
    await town.add("p1", "job")
    pod = await town.cluster.get(Pod, "job")
    await town.run("job", pod.status.pod_ip, phase="Succeeded")
    await town.pod("waits", peer={}, running=False, ip="10.8.8.8")
    await town.run("waits", "10.8.8.8", phase="Pending")
    shown = await town.shown()
    assert shown.status is not None
    assert shown.status.stack == (await town.address("p1"),)


async def test_host_network_pods_need_ports_of_their_own(town: Town) -> None:
    await town.start()

    def spec(port: int) -> dict[str, object]:
        ports = [{"name": "klight", "containerPort": port, "hostPort": port}]
        containers = [{"name": "lightpeer", "image": "x", "ports": ports}]
        return {"hostNetwork": True, "containers": containers}

    for name, port in (("h1", 9081), ("h2", 9082), ("h3", 9081)):
        town.peers.add(f"192.168.0.1:{port}") if name != "h3" else None
        await town.pod(name, ip="192.168.0.1", spec=spec(port))
        await town.cluster.advance(2)
    assert await town.stack() == ["h2", "h1"]
    assert "AddressConflict" in await town.events("h3")


async def test_ipv6_addresses_have_brackets(town: Town) -> None:
    await town.start()
    await town.pod("p1", ip="fd00::1", peer={})
    await town.cluster.advance(1)
    await town.pod("p2", ip="fd00::2", peer={})
    await town.cluster.advance(1)
    assert town.peers.joins() == [("[fd00::2]:9081", "[fd00::1]:9081")]


async def test_empty_label_is_no_network(town: Town) -> None:
    await town.start()
    await town.pod("p1", "", peer={})
    await town.cluster.advance(2)
    assert town.peers.calls == []
    assert "InvalidNetworkID" in await town.events("p1")


@pytest.mark.parametrize("value", ["x" * 64, "no spaces", "-x"])
async def test_the_server_refuses_labels_that_are_no_values(town: Town, value: str) -> None:
    with pytest.raises(Invalid):
        await town.pod("p1", value)


async def test_ids_that_differ_in_case_are_two_networks(town: Town) -> None:
    await town.start()
    for number, network in enumerate(["Net", "net", "a.b_c", "N" * 63]):
        await town.add(f"p{number}", network=network)
        assert (await town.shown(network)).spec.network_id == network
    assert town.peers.joins() == []


async def test_pod_without_anything_listening_blocks_nobody(town: Town) -> None:
    await town.start()
    await town.pod("empty", peer=None)
    await town.cluster.advance(1)
    await town.add("p1", "p2")
    await town.cluster.advance(300)
    assert await town.stack() == ["p2", "p1"]
    assert (await town.events("empty")).count("Waiting") == 1
    told = await town.cluster.client.list(Event, "default")
    waiting = next(each for each in told if each.reason == "Waiting")
    assert waiting.series is None or waiting.series.count <= 6


@pytest.mark.parametrize("mood", [Mood.FOREIGN, Mood.IMPOSTOR])
async def test_something_else_on_the_port_is_named(town: Town, mood: Mood) -> None:
    await town.start()
    await town.add("p1", "p2")
    await town.pod("odd", peer={"mood": mood})
    await town.cluster.advance(60)
    assert await town.stack() == ["p2", "p1"]
    assert "NotALightpeer" in await town.events("odd")


async def test_impostor_that_came_first_is_dropped_when_somebody_is_sent_to_it(town: Town) -> None:
    await town.start()
    await town.pod("odd", peer={"mood": Mood.IMPOSTOR})
    await town.cluster.advance(2)
    await town.add("p1", "p2")
    assert await town.stack() == ["p2", "p1"]
    assert "NotALightpeer" in await town.events("odd")


async def test_the_servers_refuse_the_documented_port_name_and_take_the_others(town: Town) -> None:
    def spec(name: str) -> dict[str, object]:
        ports = [{"name": name, "containerPort": 7000}]
        return {"containers": [{"name": "x", "image": "x", "ports": ports}]}

    await town.start()
    with pytest.raises(Invalid):
        await town.pod("p0", spec=spec("klightPort"))
    for name in ("klightport", "klight-port", "klight"):
        model = await town.pod(name, network=name, peer={}, spec=spec(name))
        assert model is not None
        assert model.address.endswith(":7000")
        await town.cluster.advance(1)
        assert await town.stack(name) == [name]


async def test_expired_watch_joins_nobody_again(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2")
    before = town.peers.joins()
    town.cluster.faults.fail(410)
    await town.cluster.advance(10)
    town.cluster.faults.cut()
    await town.cluster.advance(10)
    assert town.peers.joins() == before
    await town.add("p3")
    assert await town.stack() == ["p3", "p2", "p1"]


async def test_whoever_lost_all_its_members_waits_for_them_a_moment(town: Town) -> None:
    await town.start()
    await town.add("p1", "p2")
    pods = {name: await town.cluster.get(Pod, name) for name in ("p1", "p2")}
    where = {name: await town.address(name) for name in pods}
    for address in where.values():
        town.peers.kill(address)
    for name, kept in (("p1", []), ("p2", ["acknowledged"])):
        town.peers.add(where[name], contents=kept)
        await town.run(name, pods[name].status.pod_ip, life=2)
        await town.cluster.advance(3)
    await town.cluster.advance(5)
    assert await town.stack() == ["p1", "p2"]
    assert all(model.contents == ["acknowledged"] for model in town.alive())
