"""The life of a PortalExpose: created, ready, at rest, gone."""

from __future__ import annotations

from quintant.api.apps import Deployment
from quintant.api.core import Namespace, Pod, Service, ServicePort, ServiceSpec
from quintant.core.object import ObjectMeta, replace
from quintant.operators.portal.api import FINALIZER, PortalExpose
from quintant.testing.faults.match import path, writes
from testbeds.portal import PORT, PortalTestbed, condition, exposing


async def test_service_becomes_reachable_under_its_public_url(testbed: PortalTestbed) -> None:
    found = await testbed.ready(relays=2)
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
    assert [event for event in await testbed.events() if event[1] in ("Created", "Ready")] == [
        ("Normal", "Created", "PortalExpose created, deploying tunnel pods"),
        ("Normal", "Ready", "All tunnel pods and relays are healthy"),
    ]


async def test_failed_is_never_seen_while_it_starts(testbed: PortalTestbed) -> None:
    seen: list[str] = []
    testbed.starts = lambda _: False
    await testbed.serve()
    await testbed.classed()
    await testbed.expose()
    for at in range(150):
        await testbed.cluster.advance(0.1)
        testbed.starts = (lambda _: True) if at > 100 else testbed.starts
        now = await testbed.cluster.get(PortalExpose, "shop")
        if now.status and now.status.phase and now.status.phase not in seen[-1:]:
            seen.append(now.status.phase)
    assert seen[0] == "Pending"
    assert seen[-1] == "Ready"
    assert "Failed" not in seen


async def test_nothing_is_written_at_rest(testbed: PortalTestbed) -> None:
    before = await testbed.ready(replicas=2, relays=2)
    deployment = await testbed.deployment()
    assert testbed.engine is not None
    for _ in range(100):
        for controller in testbed.engine.controllers:
            for kind in ("shop", "small"):
                controller.queue.add(type(before.key)(kind, "default" if kind == "shop" else ""))
        await testbed.cluster.advance(1)
    after = await testbed.cluster.get(PortalExpose, "shop")
    assert after.metadata.resource_version == before.metadata.resource_version
    assert (await testbed.deployment()).metadata.resource_version == (
        deployment.metadata.resource_version
    )


async def test_deletion_takes_the_tunnels_first_and_says_so(testbed: PortalTestbed) -> None:
    found = await testbed.ready()
    await testbed.cluster.client.delete(found)
    await testbed.cluster.wait_deleted(PortalExpose, "shop", within=10)
    assert await testbed.cluster.client.find(Deployment, "shop-tunnel", "default") is None
    await testbed.cluster.advance(1)
    assert ("Normal", "Deleted", "PortalExpose deleted, tunnel pods cleaned up") in (
        await testbed.events()
    )


async def test_deletion_asked_for_while_the_controller_was_away_is_completed(
    testbed: PortalTestbed,
) -> None:
    found = await testbed.ready()
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    await testbed.cluster.client.delete(found)
    await testbed.start()
    await testbed.cluster.wait_deleted(PortalExpose, "shop", within=10)
    assert await testbed.cluster.client.find(Deployment, "shop-tunnel", "default") is None


async def test_every_permission_is_used_or_accounted_for(testbed: PortalTestbed) -> None:
    found = await testbed.ready()
    await testbed.cluster.client.delete(found)
    await testbed.cluster.wait_deleted(PortalExpose, "shop")
    assert testbed.account is not None
    unused = {(each.resource, each.verb) for each in testbed.account.unused()}
    # Lists and single reads are for servers that cannot stream a list, events are patched when they
    # repeat, and the rest is for owner references that block deletion.
    assert {each for each in unused if each[1] not in ("get", "list")} == {
        ("events", "patch"),
        ("portalexposes/finalizers", "update"),
    }


async def test_no_tunnel_class_can_be_edited_by_the_operator(testbed: PortalTestbed) -> None:
    assert testbed.account is not None
    verbs = {each.verb for each in testbed.account.permissions if each.resource == "tunnelclasses"}
    assert verbs == {"get", "list", "watch"}


STATUS = path("*/portalexposes/shop/status") & writes


async def test_crash_between_deployment_and_status_leaves_one_of_each(
    testbed: PortalTestbed,
) -> None:
    with testbed.cluster.faults.refuse(STATUS):
        await testbed.serve()
        await testbed.classed()
        await testbed.expose()
        await testbed.cluster.eventually(Deployment, "shop-tunnel")
        assert testbed.engine is not None
        await testbed.cluster.crash(testbed.engine)
    await testbed.start()
    await testbed.phase("Ready")
    assert len(await testbed.cluster.client.list(Deployment)) == 1
    assert (await testbed.reasons()).count("Created") == 1


async def test_namespace_goes_with_everything_in_it(testbed: PortalTestbed) -> None:
    space = await testbed.cluster.create(Namespace(metadata=ObjectMeta(name="far")))
    await testbed.classed()
    given = exposing()
    far = replace(given.metadata, namespace="far")
    await testbed.cluster.create(replace(given, metadata=far))
    service = Service(
        metadata=ObjectMeta(name="web", namespace="far"),
        spec=ServiceSpec(ports=(ServicePort(port=PORT),)),
    )
    await testbed.cluster.create(service)
    await testbed.cluster.eventually(
        PortalExpose, "shop", "far", until=lambda it: bool(it.status and it.status.phase == "Ready")
    )
    await testbed.cluster.client.delete(space)
    await testbed.cluster.wait_deleted(Namespace, "far", "")


async def test_pods_that_only_carry_our_labels_are_not_believed(testbed: PortalTestbed) -> None:
    await testbed.ready()
    (ours,) = await testbed.cluster.client.list(Pod)
    meta = replace(ours.metadata, name="liar", uid="", resource_version="", owner_references=())
    await testbed.cluster.create(Pod(metadata=meta, spec=replace(ours.spec, node_name="")))
    await testbed.cluster.advance(10)
    found = await testbed.cluster.get(PortalExpose, "shop")
    assert found.status is not None
    assert found.status.relay is not None
    assert [each.ready_tunnels for each in found.status.relay.connected] == [1]
    assert found.status.phase == "Ready"


async def test_lost_race_for_the_status_is_run_again_at_once_and_is_no_error(
    testbed: PortalTestbed,
) -> None:
    await testbed.serve()
    await testbed.classed()
    lost = testbed.cluster.faults.answer(409, when=STATUS, times=3)
    await testbed.expose()
    await testbed.phase("Ready", within=5)
    assert lost.hits == 3
    assert testbed.engine is not None
    assert 'portalexpose_reconcile_total{result="error"} 0.0' in (
        testbed.engine.metrics.render().decode()
    )


async def test_server_that_cannot_be_read_delays_deletion_and_nothing_else(
    testbed: PortalTestbed,
) -> None:
    found = await testbed.ready()
    deployment = path("*/deployments/shop-tunnel") & ~writes
    with testbed.cluster.faults.answer(500, when=deployment):
        await testbed.cluster.client.delete(found)
        await testbed.cluster.advance(20)
        going = await testbed.cluster.get(PortalExpose, "shop")
        assert going.metadata.finalizers == (FINALIZER,)
        assert going.status == found.status
    await testbed.cluster.wait_deleted(PortalExpose, "shop", within=60)


async def test_restart_of_the_operator_changes_and_tells_nothing(testbed: PortalTestbed) -> None:
    await testbed.ready(replicas=3, relays=2)
    testbed.down = {"wss://r1.example.com/relay"}
    await testbed.phase("Degraded")
    await testbed.cluster.advance(5)
    before, told = await testbed.cluster.get(PortalExpose, "shop"), await testbed.events()
    for _ in range(3):
        assert testbed.engine is not None
        await testbed.cluster.crash(testbed.engine)
        await testbed.start()
        await testbed.cluster.advance(20)
    after = await testbed.cluster.get(PortalExpose, "shop")
    assert after.metadata.resource_version == before.metadata.resource_version
    assert await testbed.events() == told


async def test_loss_while_the_operator_was_away_is_told_when_it_is_back(
    testbed: PortalTestbed,
) -> None:
    await testbed.ready(relays=2)
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    testbed.down = {"wss://r1.example.com/relay"}
    await testbed.start()
    await testbed.phase("Degraded", within=5)


async def test_tunnels_that_fell_silent_while_the_operator_was_away_are_missed_soon(
    testbed: PortalTestbed,
) -> None:
    await testbed.ready(relays=2)
    assert testbed.engine is not None
    await testbed.cluster.crash(testbed.engine)
    testbed.silent = True
    await testbed.start()
    found = await testbed.phase("Degraded", within=5)
    assert condition(found, "RelayConnected") == ("Unknown", "NotReported")
