"""Argo Rollouts, unmodified: a canary goes through its steps, and back where it is aborted."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio

from conformance.target import until
from conformance.workloads import workload
from foreign.catalogue import ARGO_ROLLOUTS
from foreign.process import free_ports
from interop.conftest import Aloud
from interop.served import Served, provided, up
from unit.cluster.api import JsonObject

API = "argoproj.io/v1alpha1"
REPLICAS = 5
STEPS: tuple[JsonObject, ...] = (
    {"setWeight": 20},
    {"pause": {}},
    {"setWeight": 60},
    {"pause": {"duration": "1s"}},
)
HASH = "rollouts-pod-template-hash"


@pytest.fixture
def program(aloud: Aloud) -> Path:
    return provided((ARGO_ROLLOUTS,), aloud)[0]


@pytest_asyncio.fixture
async def served(program: Path, tmp_path: Path) -> AsyncIterator[Served]:
    """A cluster with simulated nodes, its controller at work, and a Rollout that is healthy."""
    published = ARGO_ROLLOUTS.source(os.environ) / "manifests"
    async with up(tmp_path, "--no-node", "--nodes", "2") as found:
        await found.apply("-k", published / "crds")
        metrics, health = free_ports(2)
        flags = (f"--kubeconfig={found.kubeconfig}", "--leader-elect=false")
        ports = (f"--metricsPort={metrics}", f"--healthzPort={health}")
        with found.running("argo-rollouts", program, *flags, *ports):
            for name in ("stable", "canary"):
                await found.target.create(found.target.path("services"), service(name))
            await found.target.create(found.target.path("rollouts", api=API), rollout())
            assert await phase(found, "Healthy") == "Healthy"
            yield found


def service(name: str) -> JsonObject:
    return {"metadata": {"name": name}, "spec": {"selector": {"app": "a"}, "ports": [{"port": 80}]}}


def rollout() -> JsonObject:
    canary = {"stableService": "stable", "canaryService": "canary", "steps": list(STEPS)}
    body = workload("a", replicas=REPLICAS, strategy={"canary": canary})
    return {"apiVersion": API, "kind": "Rollout", **body}


class Pods(NamedTuple):
    """How many are ready, by the image that they run."""

    one: int
    two: int


async def pods(served: Served) -> Pods:
    listed = (await served.target.get(served.target.path("pods")))["items"]
    images = [each["spec"]["containers"][0]["image"] for each in listed if ready(each)]
    return Pods(images.count("one"), images.count("two"))


def ready(pod: JsonObject) -> bool:
    conditions = pod["status"].get("conditions") or []
    going = "deletionTimestamp" in pod["metadata"]
    return not going and any(
        each["type"] == "Ready" and each["status"] == "True" for each in conditions
    )


async def become(served: Served, wanted: Pods) -> None:
    assert await until(lambda: pods(served), lambda found: found == wanted) == wanted


async def phase(served: Served, wanted: str) -> str:
    """Until the Rollout says this of itself, for what it is now; what it says then."""
    path = served.target.path("rollouts", "a", API)

    async def said() -> str:
        found = await served.target.get(path)
        status = found.get("status", {})
        current = status.get("observedGeneration") == str(found["metadata"]["generation"])
        return str(status.get("phase", "")) if current else ""

    return await until(said, lambda found: found == wanted)


async def change_image(served: Served, image: str) -> None:
    containers = [{"name": "main", "image": image}]
    path = served.target.path("rollouts", "a", API)
    await served.target.merge(path, {"spec": {"template": {"spec": {"containers": containers}}}})


async def set_status(served: Served, **status: object) -> None:
    """What its command line writes to promote, to abort and to try again."""
    path = served.target.path("rollouts", "a", API, "status")
    await served.target.merge(path, {"status": status})


async def selected(served: Served, name: str) -> str:
    """The image of the pods that a Service selects."""
    found = await served.target.get(served.target.path("services", name))
    wanted = found["spec"]["selector"][HASH]
    listed = await served.target.get(
        served.target.path("replicasets", api="apps/v1"), labelSelector=f"{HASH}={wanted}"
    )
    (one,) = listed["items"]
    return str(one["spec"]["template"]["spec"]["containers"][0]["image"])


async def test_a_canary_goes_through_its_steps_until_all_pods_are_new(served: Served) -> None:
    await become(served, Pods(REPLICAS, 0))
    await change_image(served, "two")
    await become(served, Pods(4, 1))
    assert await phase(served, "Paused") == "Paused"
    assert (await selected(served, "stable"), await selected(served, "canary")) == ("one", "two")
    await set_status(served, pauseConditions=None)
    await become(served, Pods(0, REPLICAS))
    assert await phase(served, "Healthy") == "Healthy"
    assert await until(lambda: selected(served, "stable"), lambda it: it == "two") == "two"


async def test_a_canary_that_is_aborted_gives_way_and_may_be_tried_again(served: Served) -> None:
    await change_image(served, "two")
    await become(served, Pods(4, 1))
    assert await phase(served, "Paused") == "Paused"
    await set_status(served, abort=True)
    await become(served, Pods(REPLICAS, 0))
    assert await phase(served, "Degraded") == "Degraded"
    await set_status(served, abort=False)
    await become(served, Pods(4, 1))
    await change_image(served, "one")
    await become(served, Pods(REPLICAS, 0))
    assert await phase(served, "Healthy") == "Healthy"
