"""LimitRanges give defaults and hold bounds; what containers ask for together is added up."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.admission.plugins.limit_ranger import ANNOTATION
from quintant.cluster.apiserver.admission.plugins.pod_requests import pod_requests
from unit.cluster.api import PODS, Api, JsonObject, api

RANGES = "/api/v1/namespaces/default/limitranges"


def asking(name: str = "c", /, policy: str = "", **requests: str) -> JsonObject:
    found: JsonObject = {"name": name, "image": "i", "resources": {"requests": requests}}
    return {**found, "restartPolicy": policy} if policy else found


async def limited(*limits: JsonObject, name: str = "range", client: Api | None = None) -> Api:
    client = client or api()
    await client.create(RANGES, {"metadata": {"name": name}, "spec": {"limits": list(limits)}})
    return client


async def made(client: Api, *containers: JsonObject, **more: Any) -> JsonObject:
    body = {"metadata": {"name": "p"}, "spec": {"containers": list(containers)}}
    return await client.create(PODS, body, **more)


@pytest.mark.parametrize(
    ("spec", "sums"),
    [
        ({"containers": [asking(cpu="600m"), asking(cpu="600m")]}, {"cpu": "1200m"}),
        ({"containers": [asking(memory="512Mi"), asking(memory="1Gi")]}, {"memory": "1536Mi"}),
        (
            {"containers": [asking(cpu="1")], "initContainers": [asking(cpu="3"), asking(cpu="2")]},
            {"cpu": "3"},
        ),
        (
            {
                "containers": [asking(cpu="1")],
                "initContainers": [asking(policy="Always", cpu="1"), asking(cpu="2")],
            },
            {"cpu": "3"},
        ),
        ({"containers": [asking(), asking(cpu="1")]}, {"cpu": "1"}),
    ],
)
def test_what_runs_together_is_added_up(spec: JsonObject, sums: JsonObject) -> None:
    assert pod_requests(spec, "requests") == sums


async def test_the_second_range_finds_what_the_first_one_set() -> None:
    client = await limited({"type": "Container", "default": {"cpu": "1"}}, name="a")
    await limited(
        {"type": "Container", "default": {"cpu": "2", "memory": "1Gi"}}, name="b", client=client
    )
    pod = await made(client, {"name": "c", "image": "i"})
    assert pod["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "1", "memory": "1Gi"}
    assert pod["metadata"]["annotations"][ANNOTATION].endswith(
        "memory request for container c; memory limit for container c"
    )


async def test_every_complaint_is_told_once() -> None:
    client = await limited({"type": "Container", "min": {"cpu": "1", "memory": "1Gi"}})
    small = [asking(name, cpu="500m", memory="1Mi") for name in ("a", "b")]
    told = await made(client, *small, code=403)
    assert told["message"] == (
        'pods "p" is forbidden: [minimum cpu usage per Container is 1, but request is 500m, '
        "minimum memory usage per Container is 1Gi, but request is 1Mi]"
    )


async def test_other_namespaces_have_no_limits() -> None:
    client = await limited({"type": "Container", "max": {"cpu": "1"}})
    body = {"metadata": {"name": "p"}, "spec": {"containers": [asking(cpu="4")]}}
    pod = await client.create("/api/v1/namespaces/kube-public/pods", body)
    assert "annotations" not in pod["metadata"]


async def test_a_ratio_may_have_thousandths() -> None:
    client = await limited({"type": "Container", "maxLimitRequestRatio": {"cpu": "1500m"}})
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "1600m"}}
    told = await made(client, {"name": "c", "image": "i", "resources": resources}, code=403)
    assert told["message"].endswith(
        "cpu max limit to request ratio per Container is 1500m, but provided ratio is 1.600000"
    )
