"""What is behind services: Endpoints and EndpointSlices follow the pods that a selector takes."""

from __future__ import annotations

import re
from typing import Any

from conformance.controller_cluster import ControllerCluster
from conformance.kubelet import ENDED, LINGERING, READY, UNREADY
from unit.cluster.api import JsonObject

SLICES = "discovery.k8s.io/v1"
HEADLESS = "service.kubernetes.io/headless"


def service(
    name: str, *ports: JsonObject, labels: JsonObject | None = None, **spec: Any
) -> JsonObject:
    given = {"selector": {"app": "a"}, "ports": list(ports) or [{"port": 80, "targetPort": 8080}]}
    return {"metadata": {"name": name, "labels": labels or {}}, "spec": given | spec}


def pod(
    name: str, app: str = "a", *, ports: tuple[JsonObject, ...] = (), **spec: Any
) -> JsonObject:
    container = {"name": "main", "image": "image", "ports": list(ports)}
    return {
        "metadata": {"name": name, "labels": {"app": app, "pod": name}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 5, **spec},
    }


async def made(cluster: ControllerCluster, *objects: tuple[str, JsonObject]) -> None:
    for plural, obj in objects:
        await cluster.create(cluster.path(plural), obj)


async def slices(cluster: ControllerCluster, name: str, holds: Any = bool) -> list[JsonObject]:
    """The slices of a service, as soon as they are as they should be."""
    labels = f"kubernetes.io/service-name={name}"
    return await cluster.until_all("endpointslices", holds, api=SLICES, labels=labels)


def members(found: list[JsonObject]) -> dict[str, tuple[bool, bool, bool]]:
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


def subsets(found: JsonObject) -> list[tuple[list[str], list[str], list[int]]]:
    """Of each subset: the pods that are ready, the others, and the ports."""
    return sorted(
        (
            sorted(each["targetRef"]["name"] for each in subset.get("addresses") or ()),
            sorted(each["targetRef"]["name"] for each in subset.get("notReadyAddresses") or ()),
            [port["port"] for port in subset.get("ports") or ()],
        )
        for subset in found.get("subsets") or ()
    )


async def test_empty_service_has_empty_endpoints(cluster: ControllerCluster) -> None:
    await made(cluster, ("services", service("web", labels={"tier": "front"})))
    (only,) = await slices(cluster, "web")
    assert re.fullmatch("web-[a-z0-9]{5}", only["metadata"]["name"])
    assert only["metadata"]["labels"] == {
        "tier": "front",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    (owner,) = only["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["controller"]) == ("Service", True)
    assert (only["addressType"], only["endpoints"], only["ports"]) == ("IPv4", None, None)
    found = await cluster.until("endpoints", "web", lambda it: True)
    assert "subsets" not in found
    assert found["metadata"]["labels"] == {
        "tier": "front",
        "endpoints.kubernetes.io/managed-by": "endpoint-controller",
    }


async def test_readiness_is_followed(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(UNREADY, pod="b")
    await made(cluster, ("services", service("web")), ("pods", pod("a")), ("pods", pod("b")))
    both = {"a": (True, True, False), "b": (False, False, False)}
    await slices(cluster, "web", lambda it: members(it) == both)
    await cluster.until("endpoints", "web", lambda it: subsets(it) == [(["a"], ["b"], [8080])])
    cluster.kubelet.let(READY, pod="b")
    await slices(cluster, "web", lambda it: members(it).get("b") == (True, True, False))
    await cluster.until("endpoints", "web", lambda it: subsets(it) == [(["a", "b"], [], [8080])])


async def test_pods_that_go_serve_until_they_are_gone(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(LINGERING, pod="a")
    await made(cluster, ("services", service("web")), ("pods", pod("a")))
    await slices(cluster, "web", lambda it: members(it) == {"a": (True, True, False)})
    await cluster.delete(cluster.path("pods", "a"))
    await slices(cluster, "web", lambda it: members(it) == {"a": (False, True, True)})
    await cluster.until("endpoints", "web", lambda it: subsets(it) == [])
    cluster.kubelet.let(READY, pod="a")
    await slices(cluster, "web", lambda it: members(it) == {})


async def test_pods_that_ended_are_not_listed(cluster: ControllerCluster) -> None:
    await made(cluster, ("services", service("web")))
    await made(cluster, ("pods", pod("a", restartPolicy="Never")))
    await slices(cluster, "web", lambda it: "a" in members(it))
    cluster.kubelet.let(ENDED, pod="a")
    await slices(cluster, "web", lambda it: members(it) == {})


async def test_several_ports_by_name_and_number(cluster: ControllerCluster) -> None:
    ports = (
        {"name": "http", "port": 80, "targetPort": "web"},
        {"name": "raw", "port": 81, "targetPort": 9000, "protocol": "UDP", "appProtocol": "x/y"},
        {"name": "none", "port": 82, "targetPort": "missing"},
    )
    named = ({"name": "web", "containerPort": 8080},)
    other = ({"name": "web", "containerPort": 8081},)
    await made(cluster, ("services", service("web", *ports)))
    await made(cluster, ("pods", pod("a", ports=named)), ("pods", pod("b", ports=other)))
    found = await slices(cluster, "web", lambda it: len(members(it)) == 2)
    raw = {"name": "raw", "port": 9000, "protocol": "UDP", "appProtocol": "x/y"}
    assert {next(iter(members([each]))): each["ports"] for each in found} == {
        "a": [{"name": "http", "port": 8080, "protocol": "TCP"}, raw],
        "b": [{"name": "http", "port": 8081, "protocol": "TCP"}, raw],
    }
    await cluster.until(
        "endpoints",
        "web",
        lambda it: (
            subsets(it) == [(["a"], [], [8080]), (["a", "b"], [], [9000]), (["b"], [], [8081])]
        ),
    )


async def test_headless_service_publishes_hostnames_early(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(UNREADY)
    spec: JsonObject = {"clusterIP": "None", "publishNotReadyAddresses": True}
    await made(cluster, ("services", service("web", **spec)))
    await made(cluster, ("pods", pod("a", hostname="h", subdomain="web")))
    (only,) = await slices(cluster, "web", lambda it: members(it) == {"a": (True, False, False)})
    assert only["endpoints"][0]["hostname"] == "h"
    assert only["metadata"]["labels"][HEADLESS] == ""
    found = await cluster.until("endpoints", "web", lambda it: subsets(it) == [(["a"], [], [8080])])
    assert found["subsets"][0]["addresses"][0]["hostname"] == "h"
    assert found["metadata"]["labels"][HEADLESS] == ""


async def test_selector_is_followed(cluster: ControllerCluster) -> None:
    await made(cluster, ("services", service("web")))
    await made(cluster, ("pods", pod("a")), ("pods", pod("b", app="b")))
    await slices(cluster, "web", lambda it: list(members(it)) == ["a"])
    await cluster.merge(cluster.path("services", "web"), {"spec": {"selector": {"app": "b"}}})
    await slices(cluster, "web", lambda it: list(members(it)) == ["b"])
    await cluster.merge(cluster.path("pods", "a"), {"metadata": {"labels": {"app": "b"}}})
    await slices(cluster, "web", lambda it: sorted(members(it)) == ["a", "b"])


async def test_slices_have_a_hundred_backends_at_most(cluster: ControllerCluster) -> None:
    await made(cluster, ("services", service("web")))
    for at in range(103):
        await made(cluster, ("pods", pod(f"p{at:03}")))
    found = await slices(cluster, "web", lambda it: len(members(it)) == 103)
    assert max(len(each["endpoints"]) for each in found) <= 100


async def test_services_without_a_selector_are_left_alone(cluster: ControllerCluster) -> None:
    own = {"metadata": {"name": "own"}, "spec": {"ports": [{"port": 80}]}}
    subset = {"addresses": [{"ip": "192.0.2.7"}], "ports": [{"port": 80, "protocol": "TCP"}]}
    await made(cluster, ("services", own), ("services", service("web")))
    await made(cluster, ("endpoints", {"metadata": {"name": "own"}, "subsets": [subset]}))
    await slices(cluster, "web")
    managed = "endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io"
    labels = f"{managed},kubernetes.io/service-name=own"
    assert await cluster.all("endpointslices", api=SLICES, labels=labels) == []
    assert (await cluster.get(cluster.path("endpoints", "own")))["subsets"] == [subset]


async def test_endpoints_go_with_their_service(cluster: ControllerCluster) -> None:
    await made(cluster, ("services", service("web")))
    await slices(cluster, "web")
    await cluster.until("endpoints", "web", lambda it: True)
    await cluster.delete(cluster.path("services", "web"))
    await cluster.until_gone("endpoints", "web")
    await slices(cluster, "web", lambda it: it == [])


async def test_the_api_server_is_a_service_itself(cluster: ControllerCluster) -> None:
    found = await cluster.get("/api/v1/namespaces/default/services/kubernetes")
    assert found["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}
    (port,) = found["spec"]["ports"]
    assert (port["name"], port["port"]) == ("https", 443)
    behind = await cluster.get("/api/v1/namespaces/default/endpoints/kubernetes")
    assert behind["subsets"][0]["ports"] == [
        {"name": "https", "port": port["targetPort"], "protocol": "TCP"}
    ]
    path = f"/apis/{SLICES}/namespaces/default/endpointslices/kubernetes"
    each = await cluster.get(path)
    assert each["metadata"]["labels"] == {"kubernetes.io/service-name": "kubernetes"}
    assert each["endpoints"][0]["conditions"] == {"ready": True}
