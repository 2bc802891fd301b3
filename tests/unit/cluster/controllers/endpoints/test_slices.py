"""How backends are spread over slices: nothing is lost, nobody moves without need."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from quintant.api.core import ContainerPort, Service, ServicePort
from quintant.api.discovery import EndpointSlice
from quintant.cluster.controllers.endpoints.backends import service_pods
from quintant.cluster.controllers.endpoints.slices import MOST, plan
from quintant.cluster.controllers.nodes.views import NodeState
from quintant.cluster.controllers.pods.views import PodState
from quintant.core.object import replace
from unit.cluster.controllers.service_samples import NODE, node, pod, seen, service

NODES = {NODE: NodeState(metadata=node().metadata)}


def stored(svc: Service, families: tuple[str, ...] = ("IPv4",)) -> Service:
    meta = replace(svc.metadata, uid="u")
    return replace(svc, metadata=meta, spec=replace(svc.spec, ip_families=families))


def pods(*numbers: int) -> list[PodState]:
    return [
        replace(made, metadata=replace(made.metadata, uid=str(at)))
        for at in numbers
        for made in [seen(pod(f"p{at:05}", f"10.0.{at // 250}.{at % 250 + 1}"))]
    ]


def settled(
    svc: Service, members: Sequence[PodState], existing: Sequence[EndpointSlice] = ()
) -> list[EndpointSlice]:
    """The slices after a plan was carried out."""
    planned = plan(svc, service_pods(svc, members), NODES, existing)
    names = (f"web-{at}" for at in range(len(existing), 1000))
    gone = {each.metadata.name for each in planned.delete}
    made = {each.metadata.name: each for each in existing if each.metadata.name not in gone}
    for each in planned.write:
        name = each.metadata.name or next(names)
        made[name] = replace(each, metadata=replace(each.metadata, name=name))
    return list(made.values())


def listed(slices: Sequence[EndpointSlice]) -> list[str]:
    return sorted(
        endpoint.target_ref.name
        for each in slices
        for endpoint in each.endpoints or ()
        if endpoint.target_ref is not None
    )


def test_service_without_pods_has_one_empty_slice() -> None:
    (only,) = settled(stored(service()), [])
    assert (only.endpoints, only.ports) == (None, None)


def test_a_slice_holds_a_hundred_backends() -> None:
    slices = settled(stored(service()), pods(*range(250)))
    assert sorted(len(each.endpoints or ()) for each in slices) == [50, MOST, MOST]


def test_no_family_leaks_into_another() -> None:
    svc = stored(service(), ("IPv4", "IPv6"))
    slices = settled(svc, pods(1))
    assert {each.address_type: bool(each.endpoints) for each in slices} == {
        "IPv4": True,
        "IPv6": False,
    }


def test_pods_whose_named_port_differs_are_in_slices_of_their_own() -> None:
    svc = stored(service("web", ServicePort(port=80, target_port="http")))
    one = pod("one", ports=(ContainerPort(name="http", container_port=1000),))
    two = pod("two", "10.0.0.2", ports=(ContainerPort(name="http", container_port=2000),))
    none = pod("none", "10.0.0.3")
    slices = settled(svc, [seen(one), seen(two), seen(none)])
    found = {listed([each])[0]: [p.port for p in each.ports or ()] for each in slices}
    assert found == {"one": [1000], "two": [2000], "none": []}


@given(st.sets(st.integers(0, 400)), st.sets(st.integers(0, 400)))
def test_every_backend_is_listed_once_and_nobody_moves_without_need(
    before: set[int], after: set[int]
) -> None:
    svc = stored(service())
    first = settled(svc, pods(*before))
    second = settled(svc, pods(*after), first)
    assert listed(second) == [f"p{at:05}" for at in sorted(after)]
    assert all(len(each.endpoints or ()) <= MOST for each in second)
    stayed = {name: each.metadata.name for each in second for name in listed([each])}
    for each in first:
        for name in listed([each]):
            if name in stayed:
                assert stayed[name] == each.metadata.name
    assert not plan(svc, service_pods(svc, pods(*after)), NODES, second).write
