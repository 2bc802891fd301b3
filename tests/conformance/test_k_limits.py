"""LimitRanges: what pods and claims of a namespace get, and what they may ask for."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.realm import until
from conformance.target import decoded
from conformance.workshop import Workshop
from unit.cluster.api import Plain

NOTE = "kubernetes.io/limit-ranger"


def pod(*containers: Plain, **spec: Any) -> Plain:
    gates = [{"name": "check.example.com/never"}]
    content = {"containers": list(containers), "schedulingGates": gates, **spec}
    return {"metadata": {"name": "p"}, "spec": content}


def container(name: str = "c", /, **resources: Any) -> Plain:
    more = {"resources": resources} if resources else {}
    return {"name": name, "image": "i", **more}


def claim(size: str) -> Plain:
    resources = {"requests": {"storage": size}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources}
    return {"metadata": {"name": "c"}, "spec": spec}


async def limit(workshop: Workshop, type: str = "Container", **says: Any) -> Plain:
    """Make a LimitRange, and wait until it is heeded."""
    body = {"metadata": {"name": "range"}, "spec": {"limits": [{"type": type, **says}]}}
    made = await workshop.create(workshop.path("limitranges"), body)
    found: Plain = made["spec"]["limits"][0]
    return found


async def made(workshop: Workshop, body: Plain) -> Plain:
    """A pod as it comes out, once a limit range is heeded."""

    async def tried() -> Plain:
        reply = await workshop.send("POST", workshop.path("pods"), body, dryRun="All")
        found: Plain = decoded(reply.body)
        return found

    return await until(tried, lambda found: NOTE in found["metadata"].get("annotations", {}))


async def refused(workshop: Workshop, plural: str, body: Plain) -> str:
    """Why an object is not let in, once a limit range is heeded."""

    async def tried() -> tuple[int, str]:
        reply = await workshop.send("POST", workshop.path(plural), body, dryRun="All")
        return reply.status, decoded(reply.body).get("message", "")

    code, message = await until(tried, lambda found: found[0] == 403)
    assert code == 403
    return message


async def test_containers_get_what_they_do_not_say(workshop: Workshop) -> None:
    await limit(
        workshop,
        default={"cpu": "500m", "memory": "256Mi"},
        defaultRequest={"cpu": "250m"},
    )
    body = pod(
        container("a"),
        container("b", limits={"cpu": "2"}),
        initContainers=[container("i", requests={"cpu": "100m", "memory": "1Mi"})],
    )
    found = await made(workshop, body)
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


async def test_a_range_gives_defaults_from_its_bounds(workshop: Workshop) -> None:
    found = await limit(workshop, max={"cpu": "2"}, min={"memory": "1Mi"})
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
    workshop: Workshop, says: Plain, resources: Plain, told: str
) -> None:
    await limit(workshop, **says)
    body = pod(container("c", **resources))
    assert await refused(workshop, "pods", body) == f'pods "p" is forbidden: {told}'


async def test_a_pod_keeps_to_the_bounds_of_all_its_containers(workshop: Workshop) -> None:
    await limit(workshop, "Pod", max={"memory": "1Gi"})
    half = {"limits": {"memory": "768Mi"}}
    told = await refused(workshop, "pods", pod(container("a", **half), container("b", **half)))
    assert told == (
        'pods "p" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 1536Mi'
    )
    assert await refused(workshop, "pods", pod(container())) == (
        'pods "p" is forbidden: maximum memory usage per Pod is 1Gi.  No limit is specified'
    )
    many = [container("i", limits={"memory": "2Gi"})]
    fits = container("a", limits={"memory": "1Gi"})
    assert await refused(workshop, "pods", pod(fits, initContainers=many)) == (
        'pods "p" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 2Gi'
    )


async def test_a_claim_keeps_to_its_bounds(workshop: Workshop) -> None:
    bounds = {"min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}}
    await limit(workshop, "PersistentVolumeClaim", **bounds)
    told = 'persistentvolumeclaims "c" is forbidden: '
    assert await refused(workshop, "persistentvolumeclaims", claim("3Gi")) == (
        f"{told}maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"
    )
    assert await refused(workshop, "persistentvolumeclaims", claim("512Mi")) == (
        f"{told}minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi"
    )
    await workshop.create(workshop.path("persistentvolumeclaims"), claim("2Gi"))


async def test_a_pod_that_is_there_may_be_changed(workshop: Workshop) -> None:
    big = pod(container("c", limits={"cpu": "2"}))
    await workshop.create(workshop.path("pods"), big)
    await limit(workshop, max={"cpu": "1"})
    await refused(workshop, "pods", big)
    await workshop.merge(workshop.path("pods", "p"), {"metadata": {"labels": {"a": "b"}}})
