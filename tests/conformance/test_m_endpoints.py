"""What is behind services: Endpoints and EndpointSlices follow the pods that a selector takes."""

from __future__ import annotations

import re
from typing import Any

from conformance.kubelet import ENDED, LINGERING, READY, UNREADY
from conformance.workshop import Workshop
from unit.cluster.api import Plain

SLICES = "discovery.k8s.io/v1"
HEADLESS = "service.kubernetes.io/headless"


def service(name: str, *ports: Plain, labels: Plain | None = None, **spec: Any) -> Plain:
    given = {"selector": {"app": "a"}, "ports": list(ports) or [{"port": 80, "targetPort": 8080}]}
    return {"metadata": {"name": name, "labels": labels or {}}, "spec": given | spec}


def pod(name: str, app: str = "a", *, ports: tuple[Plain, ...] = (), **spec: Any) -> Plain:
    container = {"name": "main", "image": "image", "ports": list(ports)}
    return {
        "metadata": {"name": name, "labels": {"app": app, "pod": name}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 5, **spec},
    }


async def made(workshop: Workshop, *objects: tuple[str, Plain]) -> None:
    for plural, obj in objects:
        await workshop.create(workshop.path(plural), obj)


async def slices(workshop: Workshop, name: str, holds: Any = bool) -> list[Plain]:
    """The slices of a service, as soon as they are as they should be."""
    labels = f"kubernetes.io/service-name={name}"
    return await workshop.until_all("endpointslices", holds, api=SLICES, labels=labels)


def members(found: list[Plain]) -> dict[str, tuple[bool, bool, bool]]:
    """Of each pod: whether it is ready, serving, terminating."""
    return {
        endpoint["targetRef"]["name"]: (
            endpoint["conditions"]["ready"],
            endpoint["conditions"]["serving"],
            endpoint["conditions"]["terminating"],
        )
        for each in found
        for endpoint in each["endpoints"] or ()
    }


def subsets(found: Plain) -> list[tuple[list[str], list[str], list[int]]]:
    """Of each subset: the pods that are ready, the others, and the ports."""
    return sorted(
        (
            sorted(each["targetRef"]["name"] for each in subset.get("addresses") or ()),
            sorted(each["targetRef"]["name"] for each in subset.get("notReadyAddresses") or ()),
            [port["port"] for port in subset.get("ports") or ()],
        )
        for subset in found.get("subsets") or ()
    )


async def test_143_empty_service_has_empty_endpoints(workshop: Workshop) -> None:
    await made(workshop, ("services", service("web", labels={"tier": "front"})))
    (only,) = await slices(workshop, "web")
    assert re.fullmatch("web-[a-z0-9]{5}", only["metadata"]["name"])
    assert only["metadata"]["labels"] == {
        "tier": "front",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    (owner,) = only["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["controller"]) == ("Service", True)
    assert (only["addressType"], only["endpoints"], only["ports"]) == ("IPv4", None, None)
    found = await workshop.until("endpoints", "web", lambda it: True)
    assert "subsets" not in found
    assert found["metadata"]["labels"] == {
        "tier": "front",
        "endpoints.kubernetes.io/managed-by": "endpoint-controller",
    }


async def test_143_readiness_is_followed(workshop: Workshop) -> None:
    workshop.kubelet.let(UNREADY, pod="b")
    await made(workshop, ("services", service("web")), ("pods", pod("a")), ("pods", pod("b")))
    both = {"a": (True, True, False), "b": (False, False, False)}
    await slices(workshop, "web", lambda it: members(it) == both)
    await workshop.until("endpoints", "web", lambda it: subsets(it) == [(["a"], ["b"], [8080])])
    workshop.kubelet.let(READY, pod="b")
    await slices(workshop, "web", lambda it: members(it).get("b") == (True, True, False))
    await workshop.until("endpoints", "web", lambda it: subsets(it) == [(["a", "b"], [], [8080])])


async def test_143_pods_that_go_serve_until_they_are_gone(workshop: Workshop) -> None:
    workshop.kubelet.let(LINGERING, pod="a")
    await made(workshop, ("services", service("web")), ("pods", pod("a")))
    await slices(workshop, "web", lambda it: members(it) == {"a": (True, True, False)})
    await workshop.delete(workshop.path("pods", "a"))
    await slices(workshop, "web", lambda it: members(it) == {"a": (False, True, True)})
    await workshop.until("endpoints", "web", lambda it: subsets(it) == [])
    workshop.kubelet.let(READY, pod="a")
    await slices(workshop, "web", lambda it: members(it) == {})


async def test_143_pods_that_ended_are_not_listed(workshop: Workshop) -> None:
    await made(workshop, ("services", service("web")))
    await made(workshop, ("pods", pod("a", restartPolicy="Never")))
    await slices(workshop, "web", lambda it: "a" in members(it))
    workshop.kubelet.let(ENDED, pod="a")
    await slices(workshop, "web", lambda it: members(it) == {})


async def test_143_several_ports_by_name_and_number(workshop: Workshop) -> None:
    ports = (
        {"name": "http", "port": 80, "targetPort": "web"},
        {"name": "raw", "port": 81, "targetPort": 9000, "protocol": "UDP", "appProtocol": "x/y"},
        {"name": "none", "port": 82, "targetPort": "missing"},
    )
    named = ({"name": "web", "containerPort": 8080},)
    other = ({"name": "web", "containerPort": 8081},)
    await made(workshop, ("services", service("web", *ports)))
    await made(workshop, ("pods", pod("a", ports=named)), ("pods", pod("b", ports=other)))
    found = await slices(workshop, "web", lambda it: len(members(it)) == 2)
    raw = {"name": "raw", "port": 9000, "protocol": "UDP", "appProtocol": "x/y"}
    assert {next(iter(members([each]))): each["ports"] for each in found} == {
        "a": [{"name": "http", "port": 8080, "protocol": "TCP"}, raw],
        "b": [{"name": "http", "port": 8081, "protocol": "TCP"}, raw],
    }
    await workshop.until(
        "endpoints",
        "web",
        lambda it: (
            subsets(it) == [(["a"], [], [8080]), (["a", "b"], [], [9000]), (["b"], [], [8081])]
        ),
    )


async def test_143_headless_service_publishes_hostnames_early(workshop: Workshop) -> None:
    workshop.kubelet.let(UNREADY)
    spec: Plain = {"clusterIP": "None", "publishNotReadyAddresses": True}
    await made(workshop, ("services", service("web", **spec)))
    await made(workshop, ("pods", pod("a", hostname="h", subdomain="web")))
    (only,) = await slices(workshop, "web", lambda it: members(it) == {"a": (True, False, False)})
    assert only["endpoints"][0]["hostname"] == "h"
    assert only["metadata"]["labels"][HEADLESS] == ""
    found = await workshop.until(
        "endpoints", "web", lambda it: subsets(it) == [(["a"], [], [8080])]
    )
    assert found["subsets"][0]["addresses"][0]["hostname"] == "h"
    assert found["metadata"]["labels"][HEADLESS] == ""


async def test_143_selector_is_followed(workshop: Workshop) -> None:
    await made(workshop, ("services", service("web")))
    await made(workshop, ("pods", pod("a")), ("pods", pod("b", app="b")))
    await slices(workshop, "web", lambda it: list(members(it)) == ["a"])
    await workshop.merge(workshop.path("services", "web"), {"spec": {"selector": {"app": "b"}}})
    await slices(workshop, "web", lambda it: list(members(it)) == ["b"])
    await workshop.merge(workshop.path("pods", "a"), {"metadata": {"labels": {"app": "b"}}})
    await slices(workshop, "web", lambda it: sorted(members(it)) == ["a", "b"])


async def test_143_slices_have_a_hundred_backends_at_most(workshop: Workshop) -> None:
    await made(workshop, ("services", service("web")))
    for at in range(103):
        await made(workshop, ("pods", pod(f"p{at:03}")))
    found = await slices(workshop, "web", lambda it: len(members(it)) == 103)
    assert max(len(each["endpoints"]) for each in found) <= 100


async def test_143_services_without_a_selector_are_left_alone(workshop: Workshop) -> None:
    own = {"metadata": {"name": "own"}, "spec": {"ports": [{"port": 80}]}}
    subset = {"addresses": [{"ip": "192.0.2.7"}], "ports": [{"port": 80, "protocol": "TCP"}]}
    await made(workshop, ("services", own), ("services", service("web")))
    await made(workshop, ("endpoints", {"metadata": {"name": "own"}, "subsets": [subset]}))
    await slices(workshop, "web")
    managed = "endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io"
    labels = f"{managed},kubernetes.io/service-name=own"
    assert await workshop.all("endpointslices", api=SLICES, labels=labels) == []
    assert (await workshop.get(workshop.path("endpoints", "own")))["subsets"] == [subset]


async def test_143_endpoints_go_with_their_service(workshop: Workshop) -> None:
    await made(workshop, ("services", service("web")))
    await slices(workshop, "web")
    await workshop.until("endpoints", "web", lambda it: True)
    await workshop.delete(workshop.path("services", "web"))
    await workshop.until_gone("endpoints", "web")
    await slices(workshop, "web", lambda it: it == [])


async def test_143_the_api_server_is_a_service_itself(workshop: Workshop) -> None:
    found = await workshop.get("/api/v1/namespaces/default/services/kubernetes")
    assert found["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}
    (port,) = found["spec"]["ports"]
    assert (port["name"], port["port"]) == ("https", 443)
    behind = await workshop.get("/api/v1/namespaces/default/endpoints/kubernetes")
    assert behind["subsets"][0]["ports"] == [
        {"name": "https", "port": port["targetPort"], "protocol": "TCP"}
    ]
    path = f"/apis/{SLICES}/namespaces/default/endpointslices/kubernetes"
    each = await workshop.get(path)
    assert each["metadata"]["labels"] == {"kubernetes.io/service-name": "kubernetes"}
    assert each["endpoints"][0]["conditions"] == {"ready": True}
