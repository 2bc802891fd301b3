"""Slices follow the pods behind services."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from quintant.api.core import Pod, Service
from quintant.api.discovery import SERVICE_LABEL, EndpointSlice
from quintant.api.events import Event
from quintant.cluster.controllers.endpoints import endpointslices
from quintant.core.object import replace
from quintant.runtime.manager.manager import Manager
from quintant.testing import InProcessCluster, named
from testbeds.call_counter import counted_calls
from unit.cluster.controllers.service_samples import node, pod, service, started


@pytest.fixture(autouse=True)
async def _controller(cluster: InProcessCluster) -> None:
    manager = Manager("kube-controller-manager")
    endpointslices.declare(manager)
    await cluster.create(node())
    await cluster.run(manager)


async def of(cluster: InProcessCluster, name: str) -> Sequence[EndpointSlice]:
    """The slices of a service, once nothing is going on."""
    await cluster.advance(0.1)
    return await cluster.client.list(EndpointSlice, "default", labels={SERVICE_LABEL: name})


def conditions(slices: Sequence[EndpointSlice]) -> dict[str, tuple[bool | None, ...]]:
    return {
        endpoint.addresses[0]: (
            endpoint.conditions.ready,
            endpoint.conditions.serving,
            endpoint.conditions.terminating,
        )
        for each in slices
        for endpoint in each.endpoints or ()
    }


async def test_slice_is_named_and_labelled_as_everywhere(cluster: InProcessCluster) -> None:
    await cluster.create(service(labels={"tier": "front"}))
    (only,) = await of(cluster, "web")
    assert re.fullmatch("web-[a-z0-9]{5}", only.metadata.name)
    assert only.metadata.labels == {
        "tier": "front",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    assert [owner.kind for owner in only.metadata.owner_references] == ["Service"]
    assert (only.address_type, only.endpoints) == ("IPv4", None)


async def test_pods_are_listed_ready_or_not(cluster: InProcessCluster) -> None:
    await cluster.create(service())
    await started(cluster, pod("a"))
    await started(cluster, pod("b", "10.0.0.2", ready=False))
    await started(cluster, pod("c", "10.0.0.3", phase="Succeeded"))
    await started(cluster, pod("d", "10.0.0.4", labels={"app": "other"}))
    (only,) = await of(cluster, "web")
    assert conditions([only]) == {
        "10.0.0.1": (True, True, False),
        "10.0.0.2": (False, False, False),
    }
    assert [port.port for port in only.ports or ()] == [8080]


async def test_pod_that_is_going_away_serves_but_is_not_ready(cluster: InProcessCluster) -> None:
    await cluster.create(service())
    made = await started(cluster, pod("a"))
    await cluster.client.delete(made)
    assert conditions(await of(cluster, "web")) == {"10.0.0.1": (False, True, True)}


async def test_readiness_is_followed_at_once(cluster: InProcessCluster) -> None:
    await cluster.create(service())
    made = await started(cluster, pod("a", ready=False))
    await of(cluster, "web")
    await cluster.client.set_status(made, pod("a").status)
    assert conditions(await of(cluster, "web")) == {"10.0.0.1": (True, True, False)}


async def test_addresses_can_be_published_before_they_are_ready(cluster: InProcessCluster) -> None:
    await cluster.create(service(cluster_ip="None", publish_not_ready_addresses=True))
    await started(cluster, pod("a", ready=False, hostname="h", subdomain="web"))
    (only,) = await of(cluster, "web")
    assert conditions([only]) == {"10.0.0.1": (True, False, False)}
    assert [endpoint.hostname for endpoint in only.endpoints or ()] == ["h"]
    assert only.metadata.labels["service.kubernetes.io/headless"] == ""


async def test_pod_of_an_unknown_node_waits_for_it(cluster: InProcessCluster) -> None:
    await cluster.create(service())
    await started(cluster, pod("a", node_name="later"))
    assert not conditions(await of(cluster, "web"))
    told = await cluster.client.list(Event, "default")
    assert "skipping Pod a for Service default/web: Node later Not Found" in told[0].note
    await cluster.create(node("later", **{"topology.kubernetes.io/zone": "z"}))
    await cluster.advance(2)
    (only,) = await of(cluster, "web")
    assert [endpoint.zone for endpoint in only.endpoints or ()] == ["z"]


async def test_slices_without_a_selector_are_left_alone(cluster: InProcessCluster) -> None:
    await cluster.create(service("own", selector={}))
    assert not await of(cluster, "own")


async def test_slice_that_somebody_deleted_comes_back(cluster: InProcessCluster) -> None:
    await cluster.create(service())
    (only,) = await of(cluster, "web")
    await cluster.client.delete(only)
    assert len(await of(cluster, "web")) == 1


async def test_change_of_the_selector_is_followed(cluster: InProcessCluster) -> None:
    made = await cluster.create(service())
    await started(cluster, pod("a"))
    await started(cluster, pod("b", "10.0.0.2", labels={"app": "b"}))
    await cluster.client.patch(
        replace(made, spec=replace(made.spec, selector={"app": "b"})), since=made
    )
    assert list(conditions(await of(cluster, "web"))) == ["10.0.0.2"]


async def test_nothing_is_written_at_rest(cluster: InProcessCluster) -> None:
    await cluster.create(service())
    await started(cluster, pod("a"))
    before = [each.metadata.resource_version for each in await of(cluster, "web")]
    pods = await cluster.client.list(Pod, "default")
    await cluster.client.patch(
        replace(pods[0], metadata=replace(pods[0].metadata, annotations={"a": "b"})), since=pods[0]
    )
    assert [each.metadata.resource_version for each in await of(cluster, "web")] == before


async def test_slices_that_others_manage_are_left_alone(cluster: InProcessCluster) -> None:
    labels = {SERVICE_LABEL: "web", "endpointslice.kubernetes.io/managed-by": "me"}
    theirs = EndpointSlice(metadata=named("theirs", labels=labels), address_type="IPv4")
    made = await cluster.create(theirs)
    await cluster.create(service())
    await started(cluster, pod("a"))
    found = {each.metadata.name: each for each in await of(cluster, "web")}
    assert found.pop("theirs") == made
    assert conditions(list(found.values())) == {"10.0.0.1": (True, True, False)}


async def test_services_do_not_look_at_pods_of_others(cluster: InProcessCluster) -> None:
    async def cost(tier: str) -> int:
        made = await cluster.client.get(Service, "web", "default")
        changed = replace(made, metadata=replace(made.metadata, labels={"tier": tier}))
        with counted_calls() as counter:
            await cluster.client.patch(changed, since=made)
            await cluster.advance(0.1)
        return counter.calls

    await cluster.create(service())
    await started(cluster, pod("a"))
    await cost("a")  # what is made once is made now
    few = await cost("b")
    for at in range(100):
        await started(cluster, pod(f"b{at}", f"10.0.1.{at}", labels={"app": f"b{at}"}))
    assert await cost("c") < few + 100
