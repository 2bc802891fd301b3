"""Relays and tunnels that fail, and what is told of them."""

from __future__ import annotations

from quintant.api.core import Pod
from quintant.operators.portal.api import PortalExpose, RelayConnection
from testbeds.portal import PortalTestbed, condition


def relays(expose: PortalExpose) -> dict[str, RelayConnection]:
    assert expose.status is not None
    assert expose.status.relay is not None
    return {each.name: each for each in expose.status.relay.connected}


def url(number: int) -> str:
    return f"wss://r{number}.example.com/relay"


async def test_one_lost_relay_degrades_it_and_is_told_with_its_error(
    testbed: PortalTestbed,
) -> None:
    await testbed.ready(relays=3)
    testbed.down = {url(1)}
    found = await testbed.phase("Degraded", within=5)
    states = {name: each.status for name, each in relays(found).items()}
    assert states == {"r0": "Connected", "r1": "Disconnected", "r2": "Connected"}
    assert relays(found)["r1"].last_error == "connection refused"
    assert relays(found)["r1"].connected_at is None
    assert condition(found, "RelayConnected") == ("False", "PartialRelayConnection")
    assert condition(found, "Available")[0] == "True"
    noted = ("Warning", "Degraded", "Partial failure: 1/1 pods ready, 2/3 relays connected")
    assert noted in await testbed.events()
    testbed.down = set()
    await testbed.phase("Ready", within=5)
    assert {"RelayDisconnected", "RelayConnected"} <= set(await testbed.reasons())


async def test_loss_of_all_relays_is_failed_and_heals(testbed: PortalTestbed) -> None:
    await testbed.ready(relays=2)
    testbed.down = {url(0), url(1)}
    found = await testbed.phase("Failed", within=10)
    assert condition(found, "RelayConnected") == ("False", "NoRelayConnected")
    assert condition(found, "Available") == ("False", "PortalExposeNotAvailable")
    told = [event for event in await testbed.events() if event[1] == "Failed"]
    assert told == [("Warning", "Failed", "All tunnel pods or relays unavailable")]
    testbed.down = set()
    await testbed.phase("Ready", within=20)


async def test_loss_of_all_tunnels_is_failed_and_not_pending(testbed: PortalTestbed) -> None:
    await testbed.ready(replicas=2)
    testbed.starts = lambda _: False
    found = await testbed.phase("Failed", within=10)
    assert condition(found, "TunnelDeploymentReady")[0] == "False"
    assert (await testbed.reasons()).count("Failed") == 1
    assert "Pending" not in await testbed.reasons()


async def test_loss_of_one_tunnel_of_three_degrades_it_for_a_while(testbed: PortalTestbed) -> None:
    await testbed.ready(replicas=3)
    pods = await testbed.cluster.client.list(Pod)
    testbed.starts = lambda pod: pod.metadata.uid != pods[0].metadata.uid
    found = await testbed.phase("Degraded", within=5)
    assert found.status is not None
    assert found.status.tunnel_pods is not None
    assert (found.status.tunnel_pods.ready, found.status.tunnel_pods.total) == (2, 3)
    testbed.starts = lambda _: True
    await testbed.phase("Ready", within=5)


async def test_image_that_never_starts_is_named_and_failed_after_two_minutes(
    testbed: PortalTestbed,
) -> None:
    testbed.starts = lambda _: False
    await testbed.serve()
    await testbed.classed()
    await testbed.expose()
    await testbed.cluster.advance(60)
    found = await testbed.cluster.get(PortalExpose, "shop")
    assert found.status is not None
    assert found.status.phase == "Pending"
    ready = next(it for it in found.status.conditions if it.type == "TunnelDeploymentReady")
    assert "ImagePullBackOff" in ready.message
    found = await testbed.phase("Failed", within=90)
    assert condition(found, "Progressing") == ("False", "ProgressDeadlineExceeded")


async def test_ready_tunnels_that_tell_nothing_are_not_taken_for_connected(
    testbed: PortalTestbed,
) -> None:
    testbed.silent = True
    await testbed.serve()
    await testbed.classed()
    await testbed.expose()
    found = await testbed.phase("Degraded")
    await testbed.cluster.advance(60)
    found = await testbed.cluster.get(PortalExpose, "shop")
    assert relays(found)["r0"].status == "Unknown"
    assert condition(found, "RelayConnected") == ("Unknown", "NotReported")


async def test_moment_of_connection_stays_while_connected(testbed: PortalTestbed) -> None:
    before = relays(await testbed.ready())["r0"].connected_at
    assert before
    await testbed.merge(
        "/apis/portal.gosuda.org/v1alpha1/tunnelclasses/small", {"spec": {"replicas": 2}}
    )
    await testbed.cluster.advance(60)
    after = relays(await testbed.cluster.get(PortalExpose, "shop"))["r0"]
    assert (after.connected_at, after.ready_tunnels) == (before, 2)


async def test_degraded_is_told_when_it_begins_and_not_with_every_detail(
    testbed: PortalTestbed,
) -> None:
    await testbed.ready(relays=3)
    testbed.down = {url(1)}
    await testbed.phase("Degraded")
    testbed.down = {url(1), url(2)}
    await testbed.cluster.advance(30)
    testbed.down = {url(2)}
    await testbed.cluster.advance(60)
    reasons = await testbed.reasons()
    assert reasons.count("Degraded") == 1
    assert reasons.count("RelayDisconnected") == 2
    testbed.down = set()
    await testbed.phase("Ready")
    testbed.down = {url(1)}
    await testbed.phase("Degraded")
    told = [note for _, reason, note in await testbed.events() if reason == "Degraded"]
    assert set(told) == {"Partial failure: 1/1 pods ready, 2/3 relays connected"}


async def test_name_that_is_anothers_at_a_relay_is_told_until_it_is_free(
    testbed: PortalTestbed,
) -> None:
    testbed.taken = {url(0)}
    await testbed.serve()
    await testbed.classed()
    await testbed.expose(relays=2)
    found = await testbed.phase("Degraded")
    assert condition(found, "NameAvailable") == ("False", "NameConflict")
    assert relays(found)["r0"].last_error == "the name is held by another"
    await testbed.cluster.advance(60)
    (told,) = [event for event in await testbed.events() if event[1] == "NameConflict"]
    assert told[0] == "Warning"
    assert "'shop'" in told[2]
    assert "r0" in told[2]
    testbed.taken = set()
    found = await testbed.phase("Ready", within=5)
    assert condition(found, "NameAvailable") == ("True", "NameFree")


async def test_replicas_beyond_what_a_relay_takes_are_told_until_they_fit(
    testbed: PortalTestbed,
) -> None:
    testbed.most = {url(0): 2}
    await testbed.serve()
    await testbed.classed(replicas=3)
    await testbed.expose()
    await testbed.cluster.advance(10)
    found = await testbed.cluster.get(PortalExpose, "shop")
    assert condition(found, "TunnelsAccepted") == ("False", "TooManyTunnels")
    (told,) = [event for event in await testbed.events() if event[1] == "TooManyTunnels"]
    assert told[0] == "Warning"
    assert "r0 takes no more tunnels" in told[2]
    assert "spec.replicas of TunnelClass 'small' (3)" in told[2]
    path = "/apis/portal.gosuda.org/v1alpha1/tunnelclasses/small"
    await testbed.merge(path, {"spec": {"replicas": 2}})
    await testbed.cluster.advance(60)
    found = await testbed.phase("Ready")
    assert condition(found, "TunnelsAccepted") == ("True", "TunnelsFit")


async def test_name_that_nobody_else_wants_is_no_news(testbed: PortalTestbed) -> None:
    found = await testbed.ready()
    assert found.status is not None
    assert "NameAvailable" not in {each.type for each in found.status.conditions}
