"""What a PortalExpose depends on is missing, comes late, or goes away."""

from __future__ import annotations

from quintant.api.apps import Deployment
from quintant.api.core import Namespace, Pod, Service
from quintant.core.object import ObjectMeta, replace
from quintant.operators.portal.api import DEFAULT_CLASS, PortalExpose, TunnelClass
from testbeds.portal import PORT, PortalTestbed, condition, exposing


async def test_late_service_is_noticed_without_an_edit(testbed: PortalTestbed) -> None:
    await testbed.classed()
    await testbed.expose()
    found = await testbed.phase("Failed")
    assert condition(found, "ServiceExists") == ("False", "ServiceNotFound")
    assert condition(found, "Available") == ("False", "ServiceNotFound")
    assert await testbed.cluster.client.find(Deployment, "shop-tunnel", "default") is None
    await testbed.serve()
    await testbed.phase("Pending", within=5)
    await testbed.phase("Ready")
    told = [event for event in await testbed.events() if event[1] == "ServiceNotFound"]
    assert told == [("Warning", "ServiceNotFound", "Referenced Service 'web' not found")]
    assert "Failed" not in await testbed.reasons()


async def test_service_that_goes_fails_it_and_leaves_the_tunnels(testbed: PortalTestbed) -> None:
    await testbed.ready()
    pods = {pod.metadata.uid for pod in await testbed.cluster.client.list(Pod)}
    service = await testbed.cluster.get(Service, "web")
    await testbed.cluster.client.delete(service)
    found = await testbed.phase("Failed", within=5)
    assert condition(found, "Available") == ("False", "ServiceNotFound")
    assert found.status is not None
    assert found.status.tunnel_pods is not None
    assert found.status.tunnel_pods.ready == 1
    await testbed.serve()
    await testbed.phase("Ready")
    assert {pod.metadata.uid for pod in await testbed.cluster.client.list(Pod)} == pods


async def test_missing_class_is_named_and_its_coming_noticed(testbed: PortalTestbed) -> None:
    await testbed.serve()
    await testbed.expose(tunnel_class="big")
    found = await testbed.phase("Failed")
    assert condition(found, "TunnelClassExists") == ("False", "TunnelClassNotFound")
    await testbed.classed("big", default=False)
    found = await testbed.phase("Ready")
    assert condition(found, "TunnelClassExists") == ("True", "TunnelClassFound")
    assert ("Warning", "TunnelClassNotFound", "Referenced TunnelClass 'big' not found") in (
        await testbed.events()
    )


async def test_missing_default_says_which_annotation_makes_one(testbed: PortalTestbed) -> None:
    await testbed.serve()
    await testbed.classed("default", default=False)
    await testbed.expose()
    found = await testbed.phase("Failed")
    assert condition(found, "TunnelClassExists") == ("False", "NoDefaultTunnelClass")
    noted = next(
        note for _, reason, note in await testbed.events() if reason == "TunnelClassNotFound"
    )
    assert DEFAULT_CLASS in noted
    await testbed.merge(
        "/apis/portal.gosuda.org/v1alpha1/tunnelclasses/default",
        {"metadata": {"annotations": {DEFAULT_CLASS: "true"}}},
    )
    await testbed.phase("Ready")


async def test_class_serves_every_namespace(testbed: PortalTestbed) -> None:
    await testbed.cluster.create(Namespace(metadata=ObjectMeta(name="far")))
    await testbed.classed("big", default=False)
    service = await testbed.serve()
    far = ObjectMeta(name="web", namespace="far")
    spec = replace(service.spec, cluster_ip="", cluster_ips=())
    await testbed.cluster.create(Service(metadata=far, spec=spec))
    there = exposing(tunnel_class="big")
    await testbed.cluster.create(replace(there, metadata=replace(there.metadata, namespace="far")))
    await testbed.cluster.eventually(
        PortalExpose, "shop", "far", until=lambda it: bool(it.status and it.status.phase == "Ready")
    )


async def test_class_that_goes_leaves_the_tunnels_running(testbed: PortalTestbed) -> None:
    await testbed.ready()
    before = await testbed.deployment()
    await testbed.cluster.client.delete(await testbed.cluster.get(TunnelClass, "small", ""))
    found = await testbed.phase("Failed")
    assert found.status is not None
    assert found.status.tunnel_pods is not None
    assert (found.status.tunnel_pods.ready, found.status.tunnel_pods.total) == (1, 1)
    await testbed.classed()
    await testbed.phase("Ready")
    assert (await testbed.deployment()).metadata.generation == before.metadata.generation


async def test_wrong_port_is_told_and_does_not_fail_it(testbed: PortalTestbed) -> None:
    await testbed.serve()
    await testbed.classed()
    await testbed.expose(port=PORT + 1)
    found = await testbed.phase("Ready")
    assert condition(found, "ServicePortExists") == ("False", "ServicePortNotFound")
    assert condition(found, "ServiceExists") == ("True", "ServiceFound")
    assert "ServicePortNotFound" in await testbed.reasons()


async def test_ports_that_come_later_are_noticed(testbed: PortalTestbed) -> None:
    await testbed.serve()
    await testbed.classed()
    await testbed.expose(port=PORT + 1)
    await testbed.phase("Ready")
    path = "/api/v1/namespaces/default/services/web"
    await testbed.merge(path, {"spec": {"ports": [{"port": PORT + 1}]}})
    await testbed.cluster.eventually(
        PortalExpose, "shop", until=lambda it: condition(it, "ServicePortExists")[0] == "True"
    )
