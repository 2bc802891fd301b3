"""Relays and tunnels that fail, and what is told of them."""

from __future__ import annotations

from quintant.api.core import Pod
from quintant.operators.portal.api import PortalExpose, RelayConnection
from testbeds.portal import Town, condition


def relays(expose: PortalExpose) -> dict[str, RelayConnection]:
    assert expose.status is not None
    assert expose.status.relay is not None
    return {each.name: each for each in expose.status.relay.connected}


def url(number: int) -> str:
    return f"wss://r{number}.example.com/relay"


async def test_one_lost_relay_degrades_it_and_is_told_with_its_error(town: Town) -> None:
    await town.ready(relays=3)
    town.down = {url(1)}
    found = await town.phase("Degraded", within=5)
    states = {name: each.status for name, each in relays(found).items()}
    assert states == {"r0": "Connected", "r1": "Disconnected", "r2": "Connected"}
    assert relays(found)["r1"].last_error == "connection refused"
    assert relays(found)["r1"].connected_at is None
    assert condition(found, "RelayConnected") == ("False", "PartialRelayConnection")
    assert condition(found, "Available")[0] == "True"
    noted = ("Warning", "Degraded", "Partial failure: 1/1 pods ready, 2/3 relays connected")
    assert noted in await town.events()
    town.down = set()
    await town.phase("Ready", within=5)
    assert {"RelayDisconnected", "RelayConnected"} <= set(await town.reasons())


async def test_loss_of_all_relays_is_failed_and_heals(town: Town) -> None:
    await town.ready(relays=2)
    town.down = {url(0), url(1)}
    found = await town.phase("Failed", within=10)
    assert condition(found, "RelayConnected") == ("False", "NoRelayConnected")
    assert condition(found, "Available") == ("False", "PortalExposeNotAvailable")
    told = [event for event in await town.events() if event[1] == "Failed"]
    assert told == [("Warning", "Failed", "All tunnel pods or relays unavailable")]
    town.down = set()
    await town.phase("Ready", within=20)


async def test_loss_of_all_tunnels_is_failed_and_not_pending(town: Town) -> None:
    await town.ready(replicas=2)
    town.starts = lambda _: False
    found = await town.phase("Failed", within=10)
    assert condition(found, "TunnelDeploymentReady")[0] == "False"
    assert (await town.reasons()).count("Failed") == 1
    assert "Pending" not in await town.reasons()


async def test_loss_of_one_tunnel_of_three_degrades_it_for_a_while(town: Town) -> None:
    await town.ready(replicas=3)
    pods = await town.cluster.client.list(Pod)
    town.starts = lambda pod: pod.metadata.uid != pods[0].metadata.uid
    found = await town.phase("Degraded", within=5)
    assert found.status is not None
    assert found.status.tunnel_pods is not None
    assert (found.status.tunnel_pods.ready, found.status.tunnel_pods.total) == (2, 3)
    town.starts = lambda _: True
    await town.phase("Ready", within=5)


async def test_image_that_never_starts_is_named_and_failed_after_two_minutes(town: Town) -> None:
    town.starts = lambda _: False
    await town.serve()
    await town.classed()
    await town.expose()
    await town.cluster.advance(60)
    found = await town.cluster.get(PortalExpose, "shop")
    assert found.status is not None
    assert found.status.phase == "Pending"
    ready = next(it for it in found.status.conditions if it.type == "TunnelDeploymentReady")
    assert "ImagePullBackOff" in ready.message
    found = await town.phase("Failed", within=90)
    assert condition(found, "Progressing") == ("False", "ProgressDeadlineExceeded")


async def test_ready_tunnels_that_tell_nothing_are_not_taken_for_connected(town: Town) -> None:
    town.silent = True
    await town.serve()
    await town.classed()
    await town.expose()
    found = await town.phase("Degraded")
    await town.cluster.advance(60)
    found = await town.cluster.get(PortalExpose, "shop")
    assert relays(found)["r0"].status == "Unknown"
    assert condition(found, "RelayConnected") == ("Unknown", "NotReported")


async def test_moment_of_connection_stays_while_connected(town: Town) -> None:
    before = relays(await town.ready())["r0"].connected_at
    assert before
    await town.merge(
        "/apis/portal.gosuda.org/v1alpha1/tunnelclasses/small", {"spec": {"replicas": 2}}
    )
    await town.cluster.advance(60)
    after = relays(await town.cluster.get(PortalExpose, "shop"))["r0"]
    assert (after.connected_at, after.ready_tunnels) == (before, 2)


async def test_degraded_is_told_when_it_begins_and_not_with_every_detail(town: Town) -> None:
    await town.ready(relays=3)
    town.down = {url(1)}
    await town.phase("Degraded")
    town.down = {url(1), url(2)}
    await town.cluster.advance(30)
    town.down = {url(2)}
    await town.cluster.advance(60)
    reasons = await town.reasons()
    assert reasons.count("Degraded") == 1
    assert reasons.count("RelayDisconnected") == 2
    town.down = set()
    await town.phase("Ready")
    town.down = {url(1)}
    await town.phase("Degraded")
    told = [note for _, reason, note in await town.events() if reason == "Degraded"]
    assert set(told) == {"Partial failure: 1/1 pods ready, 2/3 relays connected"}


async def test_name_that_is_anothers_at_a_relay_is_told_until_it_is_free(town: Town) -> None:
    town.taken = {url(0)}
    await town.serve()
    await town.classed()
    await town.expose(relays=2)
    found = await town.phase("Degraded")
    assert condition(found, "NameAvailable") == ("False", "NameConflict")
    assert relays(found)["r0"].last_error == "the name is held by another"
    await town.cluster.advance(60)
    (told,) = [event for event in await town.events() if event[1] == "NameConflict"]
    assert told[0] == "Warning"
    assert "'shop'" in told[2]
    assert "r0" in told[2]
    town.taken = set()
    found = await town.phase("Ready", within=5)
    assert condition(found, "NameAvailable") == ("True", "NameFree")


async def test_name_that_nobody_else_wants_is_no_news(town: Town) -> None:
    found = await town.ready()
    assert found.status is not None
    assert "NameAvailable" not in {each.type for each in found.status.conditions}
