"""LimitRanges and quotas: what a namespace gives, and what it has room for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.controller_cluster import ControllerCluster
from conformance.target import decoded, until
from unit.cluster.api import JsonObject

NOTE = "kubernetes.io/limit-ranger"
NOTHING = "count/leases.x"
"""What nobody counts: there is no such kind."""


def pod(*containers: JsonObject, **spec: Any) -> JsonObject:
    gates = [{"name": "check.example.com/never"}]
    content = {"containers": list(containers), "schedulingGates": gates, **spec}
    return {"metadata": {"name": "p"}, "spec": content}


def container(name: str = "c", /, **resources: Any) -> JsonObject:
    more = {"resources": resources} if resources else {}
    return {"name": name, "image": "i", **more}


def claim(size: str) -> JsonObject:
    resources = {"requests": {"storage": size}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources}
    return {"metadata": {"name": "c"}, "spec": spec}


async def limit(cluster: ControllerCluster, type: str = "Container", **says: Any) -> JsonObject:
    """Make a LimitRange, and wait until it is heeded."""
    body = {"metadata": {"name": "range"}, "spec": {"limits": [{"type": type, **says}]}}
    made = await cluster.create(cluster.path("limitranges"), body)
    found: JsonObject = made["spec"]["limits"][0]
    return found


async def made(cluster: ControllerCluster, body: JsonObject) -> JsonObject:
    """A pod as it comes out, once a limit range is heeded."""

    async def tried() -> JsonObject:
        reply = await cluster.send("POST", cluster.path("pods"), body, dryRun="All")
        found: JsonObject = decoded(reply.body)
        return found

    return await until(tried, lambda found: NOTE in found["metadata"].get("annotations", {}))


async def refused(cluster: ControllerCluster, plural: str, body: JsonObject) -> str:
    """Why an object is not let in, once a limit range is heeded."""

    async def tried() -> tuple[int, str]:
        reply = await cluster.send("POST", cluster.path(plural), body, dryRun="All")
        return reply.status, decoded(reply.body).get("message", "")

    code, message = await until(tried, lambda found: found[0] == 403)
    assert code == 403
    return message


async def test_containers_get_what_they_do_not_say(cluster: ControllerCluster) -> None:
    await limit(
        cluster,
        default={"cpu": "500m", "memory": "256Mi"},
        defaultRequest={"cpu": "250m"},
    )
    body = pod(
        container("a"),
        container("b", limits={"cpu": "2"}),
        initContainers=[container("i", requests={"cpu": "100m", "memory": "1Mi"})],
    )
    found = await made(cluster, body)
    spec = found["spec"]
    assert [each["resources"] for each in (*spec["containers"], *spec["initContainers"])] == [
        {
            "limits": {"cpu": "500m", "memory": "256Mi"},
            "requests": {"cpu": "250m", "memory": "256Mi"},
        },
        {"limits": {"cpu": "2", "memory": "256Mi"}, "requests": {"cpu": "2", "memory": "256Mi"}},
        {
            "limits": {"cpu": "500m", "memory": "256Mi"},
            "requests": {"cpu": "100m", "memory": "1Mi"},
        },
    ]
    assert found["metadata"]["annotations"][NOTE] == (
        "LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for "
        "container a; memory request for container b; memory limit for container b; cpu, memory "
        "limit for init container i"
    )


async def test_a_range_gives_defaults_from_its_bounds(cluster: ControllerCluster) -> None:
    found = await limit(cluster, max={"cpu": "2"}, min={"memory": "1Mi"})
    assert found["default"] == {"cpu": "2"}
    assert found["defaultRequest"] == {"cpu": "2", "memory": "1Mi"}


@pytest.mark.parametrize(
    ("says", "resources", "told"),
    [
        (
            {"max": {"cpu": "1"}},
            {"limits": {"cpu": "2"}},
            "maximum cpu usage per Container is 1, but limit is 2",
        ),
        (
            {"min": {"memory": "64Mi"}},
            {"requests": {"memory": "32Mi"}},
            "minimum memory usage per Container is 64Mi, but request is 32Mi",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "100m"}, "limits": {"cpu": "500m"}},
            "cpu max limit to request ratio per Container is 2, but provided ratio is 5.000000",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "100m"}},
            "cpu max limit to request ratio per Container is 2, but no limit is specified or "
            "limit is 0",
        ),
    ],
)
async def test_a_container_keeps_to_its_bounds(
    cluster: ControllerCluster, says: JsonObject, resources: JsonObject, told: str
) -> None:
    await limit(cluster, **says)
    body = pod(container("c", **resources))
    assert await refused(cluster, "pods", body) == f'pods "p" is forbidden: {told}'


async def test_a_pod_keeps_to_the_bounds_of_all_its_containers(cluster: ControllerCluster) -> None:
    await limit(cluster, "Pod", max={"memory": "1Gi"})
    half = {"limits": {"memory": "768Mi"}}
    told = await refused(cluster, "pods", pod(container("a", **half), container("b", **half)))
    assert told == (
        'pods "p" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 1536Mi'
    )
    assert await refused(cluster, "pods", pod(container())) == (
        'pods "p" is forbidden: maximum memory usage per Pod is 1Gi.  No limit is specified'
    )
    many = [container("i", limits={"memory": "2Gi"})]
    fits = container("a", limits={"memory": "1Gi"})
    assert await refused(cluster, "pods", pod(fits, initContainers=many)) == (
        'pods "p" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 2Gi'
    )


async def test_a_claim_keeps_to_its_bounds(cluster: ControllerCluster) -> None:
    bounds = {"min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}}
    await limit(cluster, "PersistentVolumeClaim", **bounds)
    told = 'persistentvolumeclaims "c" is forbidden: '
    assert await refused(cluster, "persistentvolumeclaims", claim("3Gi")) == (
        f"{told}maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"
    )
    assert await refused(cluster, "persistentvolumeclaims", claim("512Mi")) == (
        f"{told}minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi"
    )
    await cluster.create(cluster.path("persistentvolumeclaims"), claim("2Gi"))


async def test_a_pod_that_is_there_may_be_changed(cluster: ControllerCluster) -> None:
    big = pod(container("c", limits={"cpu": "2"}))
    await cluster.create(cluster.path("pods"), big)
    await limit(cluster, max={"cpu": "1"})
    await refused(cluster, "pods", big)
    await cluster.merge(cluster.path("pods", "p"), {"metadata": {"labels": {"a": "b"}}})


async def quota(cluster: ControllerCluster, **spec: Any) -> None:
    """Make a ResourceQuota, and wait until it knows what is used."""
    await cluster.create(
        cluster.path("resourcequotas"), {"metadata": {"name": "quota"}, "spec": spec}
    )
    await counted(cluster, lambda used: used.keys() == spec["hard"].keys() - {NOTHING})


async def counted(cluster: ControllerCluster, holds: Callable[[JsonObject], bool]) -> JsonObject:
    """What is used of the quota, once it is as it should be."""

    async def used() -> JsonObject:
        found: JsonObject = await cluster.get(cluster.path("resourcequotas", "quota"))
        status: JsonObject = found.get("status", {}).get("used", {})
        return status

    found = await until(used, holds)
    assert holds(found), found
    return found


async def test_a_quota_counts_what_comes_and_goes(cluster: ControllerCluster) -> None:
    hard = {"pods": "5", "count/pods": "5", "requests.cpu": "2", "cpu": "2", "limits.memory": "4Gi"}
    await quota(cluster, hard=hard)
    resources = {"requests": {"cpu": "500m"}, "limits": {"memory": "1Gi", "cpu": "1"}}
    await cluster.create(cluster.path("pods"), pod(container("c", **resources)))
    used = {"pods": "1", "count/pods": "1", "requests.cpu": "500m", "cpu": "500m"}
    assert await counted(cluster, lambda found: found["pods"] == "1") == {
        **used,
        "limits.memory": "1Gi",
    }
    await cluster.delete(cluster.path("pods", "p"), {"gracePeriodSeconds": 0})
    await counted(cluster, lambda found: found == dict.fromkeys(hard, "0"))


async def test_what_a_quota_has_no_room_for_is_refused(cluster: ControllerCluster) -> None:
    await quota(cluster, hard={"pods": "5", "requests.cpu": "1"})
    first = pod(container("c", requests={"cpu": "600m"}))
    await cluster.create(cluster.path("pods"), first)
    second = {**pod(container("c", requests={"cpu": "500m"})), "metadata": {"name": "q"}}
    assert await refused(cluster, "pods", second) == (
        'pods "q" is forbidden: exceeded quota: quota, requested: requests.cpu=500m, '
        "used: requests.cpu=600m, limited: requests.cpu=1"
    )
    silent = pod(container("b"), container("a"), initContainers=[container("i")])
    assert await refused(cluster, "pods", {**silent, "metadata": {"name": "q"}}) == (
        'pods "q" is forbidden: failed quota: quota: must specify requests.cpu for: a,b,i'
    )


async def test_objects_are_counted_by_any_name(cluster: ControllerCluster) -> None:
    await quota(cluster, hard={"secrets": "1", "count/secrets": "1", NOTHING: "1"})
    secret = {"metadata": {"name": "a"}, "stringData": {"a": "b"}}
    await cluster.create(cluster.path("secrets"), secret)
    told = await refused(cluster, "secrets", {**secret, "metadata": {"name": "b"}})
    assert told == (
        'secrets "b" is forbidden: exceeded quota: quota, requested: count/secrets=1,secrets=1, '
        "used: count/secrets=1,secrets=1, limited: count/secrets=1,secrets=1"
    )


async def test_a_scope_of_a_quota_is_about_some_pods(cluster: ControllerCluster) -> None:
    await quota(cluster, hard={"pods": "0"}, scopes=["BestEffort", "NotTerminating"])
    told = await refused(cluster, "pods", pod(container()))
    assert told == (
        'pods "p" is forbidden: exceeded quota: quota, requested: pods=1, used: pods=0, '
        "limited: pods=0"
    )
    await cluster.create(cluster.path("pods"), pod(container(), activeDeadlineSeconds=60))


async def test_claims_and_services_take_what_they_ask_for(cluster: ControllerCluster) -> None:
    hard = {"requests.storage": "2Gi", "services.nodeports": "1", "services.loadbalancers": "0"}
    await quota(cluster, hard=hard)
    await cluster.create(cluster.path("persistentvolumeclaims"), claim("1Gi"))
    more = {**claim("1536Mi"), "metadata": {"name": "d"}}
    assert await refused(cluster, "persistentvolumeclaims", more) == (
        'persistentvolumeclaims "d" is forbidden: exceeded quota: quota, requested: '
        "requests.storage=1536Mi, used: requests.storage=1Gi, limited: requests.storage=2Gi"
    )
    ports = [{"name": name, "port": at} for at, name in enumerate("ab", 80)]
    service = {"metadata": {"name": "s"}, "spec": {"ports": ports, "type": "NodePort"}}
    assert await refused(cluster, "services", service) == (
        'services "s" is forbidden: exceeded quota: quota, requested: services.nodeports=2, '
        "used: services.nodeports=0, limited: services.nodeports=1"
    )
