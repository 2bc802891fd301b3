"""The life of a PortalExpose: created, ready, at rest, gone."""

from __future__ import annotations

from quintant.api.apps import Deployment
from quintant.api.core import Namespace, Pod, Service, ServicePort, ServiceSpec
from quintant.core.object import ObjectMeta, replace
from quintant.operators.portal.api import FINALIZER, PortalExpose
from quintant.testing.faults.match import path, writes
from testbeds.portal import PORT, Town, condition, exposing


async def test_service_becomes_reachable_under_its_public_url(town: Town) -> None:
    found = await town.ready(relays=2)
    assert found.status is not None
    assert found.metadata.finalizers == (FINALIZER,)
    assert found.status.public_url == "https://shop.r0.example.com"
    assert found.status.tunnel_pods is not None
    assert (found.status.tunnel_pods.ready, found.status.tunnel_pods.total) == (1, 1)
    assert [each.status for each in found.status.relay.connected] == ["Connected"] * 2  # type: ignore[union-attr]
    for type, reason in {
        "ServiceExists": "ServiceFound",
        "TunnelClassExists": "TunnelClassFound",
        "TunnelDeploymentReady": "AllPodsReady",
        "RelayConnected": "AllRelaysConnected",
        "Available": "PortalExposeAvailable",
        "Deployed": "DeploymentCreated",
    }.items():
        assert condition(found, type) == ("True", reason)
    assert condition(found, "Progressing") == ("False", "DeploymentStable")
    assert [event for event in await town.events() if event[1] in ("Created", "Ready")] == [
        ("Normal", "Created", "PortalExpose created, deploying tunnel pods"),
        ("Normal", "Ready", "All tunnel pods and relays are healthy"),
    ]


async def test_failed_is_never_seen_while_it_starts(town: Town) -> None:
    seen: list[str] = []
    town.starts = lambda _: False
    await town.serve()
    await town.classed()
    await town.expose()
    for at in range(150):
        await town.cluster.advance(0.1)
        town.starts = (lambda _: True) if at > 100 else town.starts
        now = await town.cluster.get(PortalExpose, "shop")
        if now.status and now.status.phase and now.status.phase not in seen[-1:]:
            seen.append(now.status.phase)
    assert seen[0] == "Pending"
    assert seen[-1] == "Ready"
    assert "Failed" not in seen


async def test_nothing_is_written_at_rest(town: Town) -> None:
    before = await town.ready(replicas=2, relays=2)
    deployment = await town.deployment()
    assert town.engine is not None
    for _ in range(100):
        for controller in town.engine.controllers:
            for kind in ("shop", "small"):
                controller.queue.add(type(before.key)(kind, "default" if kind == "shop" else ""))
        await town.cluster.advance(1)
    after = await town.cluster.get(PortalExpose, "shop")
    assert after.metadata.resource_version == before.metadata.resource_version
    assert (await town.deployment()).metadata.resource_version == (
        deployment.metadata.resource_version
    )


async def test_deletion_takes_the_tunnels_first_and_says_so(town: Town) -> None:
    found = await town.ready()
    await town.cluster.client.delete(found)
    await town.cluster.gone(PortalExpose, "shop", within=10)
    assert await town.cluster.client.find(Deployment, "shop-tunnel", "default") is None
    await town.cluster.advance(1)
    assert ("Normal", "Deleted", "PortalExpose deleted, tunnel pods cleaned up") in (
        await town.events()
    )


async def test_deletion_asked_for_while_the_controller_was_away_is_completed(town: Town) -> None:
    found = await town.ready()
    assert town.engine is not None
    await town.cluster.crash(town.engine)
    await town.cluster.client.delete(found)
    await town.start()
    await town.cluster.gone(PortalExpose, "shop", within=10)
    assert await town.cluster.client.find(Deployment, "shop-tunnel", "default") is None


async def test_every_permission_is_used_or_accounted_for(town: Town) -> None:
    found = await town.ready()
    await town.cluster.client.delete(found)
    await town.cluster.gone(PortalExpose, "shop")
    assert town.account is not None
    unused = {(each.resource, each.verb) for each in town.account.unused()}
    # Lists and single reads are for servers that cannot stream a list, events are patched when they
    # repeat, and the rest is for owner references that block deletion.
    assert {each for each in unused if each[1] not in ("get", "list")} == {
        ("events", "patch"),
        ("portalexposes/finalizers", "update"),
    }


async def test_no_tunnel_class_can_be_edited_by_the_operator(town: Town) -> None:
    assert town.account is not None
    verbs = {each.verb for each in town.account.permissions if each.resource == "tunnelclasses"}
    assert verbs == {"get", "list", "watch"}


STATUS = path("*/portalexposes/shop/status") & writes


async def test_crash_between_deployment_and_status_leaves_one_of_each(town: Town) -> None:
    with town.cluster.faults.refuse(STATUS):
        await town.serve()
        await town.classed()
        await town.expose()
        await town.cluster.eventually(Deployment, "shop-tunnel")
        assert town.engine is not None
        await town.cluster.crash(town.engine)
    await town.start()
    await town.phase("Ready")
    assert len(await town.cluster.client.list(Deployment)) == 1
    assert (await town.reasons()).count("Created") == 1


async def test_namespace_goes_with_everything_in_it(town: Town) -> None:
    space = await town.cluster.create(Namespace(metadata=ObjectMeta(name="far")))
    await town.classed()
    given = exposing()
    far = replace(given.metadata, namespace="far")
    await town.cluster.create(replace(given, metadata=far))
    service = Service(
        metadata=ObjectMeta(name="web", namespace="far"),
        spec=ServiceSpec(ports=(ServicePort(port=PORT),)),
    )
    await town.cluster.create(service)
    await town.cluster.eventually(
        PortalExpose, "shop", "far", until=lambda it: bool(it.status and it.status.phase == "Ready")
    )
    await town.cluster.client.delete(space)
    await town.cluster.gone(Namespace, "far", "")


async def test_pods_that_only_carry_our_labels_are_not_believed(town: Town) -> None:
    await town.ready()
    (ours,) = await town.cluster.client.list(Pod)
    meta = replace(ours.metadata, name="liar", uid="", resource_version="", owner_references=())
    await town.cluster.create(Pod(metadata=meta, spec=replace(ours.spec, node_name="")))
    await town.cluster.advance(10)
    found = await town.cluster.get(PortalExpose, "shop")
    assert found.status is not None
    assert found.status.relay is not None
    assert [each.ready_tunnels for each in found.status.relay.connected] == [1]
    assert found.status.phase == "Ready"


async def test_lost_race_for_the_status_is_run_again_at_once_and_is_no_error(town: Town) -> None:
    await town.serve()
    await town.classed()
    lost = town.cluster.faults.answer(409, when=STATUS, times=3)
    await town.expose()
    await town.phase("Ready", within=5)
    assert lost.hits == 3
    assert town.engine is not None
    assert 'portalexpose_reconcile_total{result="error"} 0.0' in (
        town.engine.metrics.render().decode()
    )


async def test_server_that_cannot_be_read_delays_deletion_and_nothing_else(town: Town) -> None:
    found = await town.ready()
    deployment = path("*/deployments/shop-tunnel") & ~writes
    with town.cluster.faults.answer(500, when=deployment):
        await town.cluster.client.delete(found)
        await town.cluster.advance(20)
        going = await town.cluster.get(PortalExpose, "shop")
        assert going.metadata.finalizers == (FINALIZER,)
        assert going.status == found.status
    await town.cluster.gone(PortalExpose, "shop", within=60)


async def test_restart_of_the_operator_changes_and_tells_nothing(town: Town) -> None:
    await town.ready(replicas=3, relays=2)
    town.down = {"wss://r1.example.com/relay"}
    await town.phase("Degraded")
    await town.cluster.advance(5)
    before, told = await town.cluster.get(PortalExpose, "shop"), await town.events()
    for _ in range(3):
        assert town.engine is not None
        await town.cluster.crash(town.engine)
        await town.start()
        await town.cluster.advance(20)
    after = await town.cluster.get(PortalExpose, "shop")
    assert after.metadata.resource_version == before.metadata.resource_version
    assert await town.events() == told


async def test_loss_while_the_operator_was_away_is_told_when_it_is_back(town: Town) -> None:
    await town.ready(relays=2)
    assert town.engine is not None
    await town.cluster.crash(town.engine)
    town.down = {"wss://r1.example.com/relay"}
    await town.start()
    await town.phase("Degraded", within=5)


async def test_tunnels_that_fell_silent_while_the_operator_was_away_are_missed_soon(
    town: Town,
) -> None:
    await town.ready(relays=2)
    assert town.engine is not None
    await town.cluster.crash(town.engine)
    town.silent = True
    await town.start()
    found = await town.phase("Degraded", within=5)
    assert condition(found, "RelayConnected") == ("Unknown", "NotReported")
