"""What a PortalExpose depends on is missing, comes late, or goes away."""

from __future__ import annotations

from quintant.api.apps import Deployment
from quintant.api.core import Namespace, Pod, Service
from quintant.core.object import ObjectMeta, replace
from quintant.operators.portal.api import DEFAULT_CLASS, PortalExpose, TunnelClass
from testbeds.portal import PORT, Town, condition, exposing


async def test_late_service_is_noticed_without_an_edit(town: Town) -> None:
    await town.classed()
    await town.expose()
    found = await town.phase("Failed")
    assert condition(found, "ServiceExists") == ("False", "ServiceNotFound")
    assert condition(found, "Available") == ("False", "ServiceNotFound")
    assert await town.cluster.client.find(Deployment, "shop-tunnel", "default") is None
    await town.serve()
    await town.phase("Pending", within=5)
    await town.phase("Ready")
    told = [event for event in await town.events() if event[1] == "ServiceNotFound"]
    assert told == [("Warning", "ServiceNotFound", "Referenced Service 'web' not found")]
    assert "Failed" not in await town.reasons()


async def test_service_that_goes_fails_it_and_leaves_the_tunnels(town: Town) -> None:
    await town.ready()
    pods = {pod.metadata.uid for pod in await town.cluster.client.list(Pod)}
    service = await town.cluster.get(Service, "web")
    await town.cluster.client.delete(service)
    found = await town.phase("Failed", within=5)
    assert condition(found, "Available") == ("False", "ServiceNotFound")
    assert found.status is not None
    assert found.status.tunnel_pods is not None
    assert found.status.tunnel_pods.ready == 1
    await town.serve()
    await town.phase("Ready")
    assert {pod.metadata.uid for pod in await town.cluster.client.list(Pod)} == pods


async def test_missing_class_is_named_and_its_coming_noticed(town: Town) -> None:
    await town.serve()
    await town.expose(tunnel_class="big")
    found = await town.phase("Failed")
    assert condition(found, "TunnelClassExists") == ("False", "TunnelClassNotFound")
    await town.classed("big", default=False)
    found = await town.phase("Ready")
    assert condition(found, "TunnelClassExists") == ("True", "TunnelClassFound")
    assert ("Warning", "TunnelClassNotFound", "Referenced TunnelClass 'big' not found") in (
        await town.events()
    )


async def test_missing_default_says_which_annotation_makes_one(town: Town) -> None:
    await town.serve()
    await town.classed("default", default=False)
    await town.expose()
    found = await town.phase("Failed")
    assert condition(found, "TunnelClassExists") == ("False", "NoDefaultTunnelClass")
    noted = next(note for _, reason, note in await town.events() if reason == "TunnelClassNotFound")
    assert DEFAULT_CLASS in noted
    await town.merge(
        "/apis/portal.gosuda.org/v1alpha1/tunnelclasses/default",
        {"metadata": {"annotations": {DEFAULT_CLASS: "true"}}},
    )
    await town.phase("Ready")


async def test_class_serves_every_namespace(town: Town) -> None:
    await town.cluster.create(Namespace(metadata=ObjectMeta(name="far")))
    await town.classed("big", default=False)
    service = await town.serve()
    far = ObjectMeta(name="web", namespace="far")
    spec = replace(service.spec, cluster_ip="", cluster_ips=())
    await town.cluster.create(Service(metadata=far, spec=spec))
    there = exposing(tunnel_class="big")
    await town.cluster.create(replace(there, metadata=replace(there.metadata, namespace="far")))
    await town.cluster.eventually(
        PortalExpose, "shop", "far", until=lambda it: bool(it.status and it.status.phase == "Ready")
    )


async def test_class_that_goes_leaves_the_tunnels_running(town: Town) -> None:
    await town.ready()
    before = await town.deployment()
    await town.cluster.client.delete(await town.cluster.get(TunnelClass, "small", ""))
    found = await town.phase("Failed")
    assert found.status is not None
    assert found.status.tunnel_pods is not None
    assert (found.status.tunnel_pods.ready, found.status.tunnel_pods.total) == (1, 1)
    await town.classed()
    await town.phase("Ready")
    assert (await town.deployment()).metadata.generation == before.metadata.generation


async def test_wrong_port_is_told_and_does_not_fail_it(town: Town) -> None:
    await town.serve()
    await town.classed()
    await town.expose(port=PORT + 1)
    found = await town.phase("Ready")
    assert condition(found, "ServicePortExists") == ("False", "ServicePortNotFound")
    assert condition(found, "ServiceExists") == ("True", "ServiceFound")
    assert "ServicePortNotFound" in await town.reasons()


async def test_ports_that_come_later_are_noticed(town: Town) -> None:
    await town.serve()
    await town.classed()
    await town.expose(port=PORT + 1)
    await town.phase("Ready")
    path = "/api/v1/namespaces/default/services/web"
    await town.merge(path, {"spec": {"ports": [{"port": PORT + 1}]}})
    await town.cluster.eventually(
        PortalExpose, "shop", until=lambda it: condition(it, "ServicePortExists")[0] == "True"
    )
