"""The suite's own kubelet, on both servers: checks of controllers rest on what it does."""

from __future__ import annotations

from conformance.controller_cluster import ControllerCluster
from conformance.kubelet import ENDED, LINGERING, READY, UNBOUND, UNREADY
from unit.cluster.api import JsonObject, pod


async def test_pod_is_bound_started_and_ready(cluster: ControllerCluster) -> None:
    await cluster.create(cluster.path("pods"), pod("a"))
    found = await cluster.until("pods", "a", ready)
    assert found["spec"]["nodeName"] in cluster.kubelet.nodes
    assert (found["status"]["phase"], found["status"]["qosClass"]) == ("Running", "BestEffort")


async def test_fate_of_pods_is_told_by_labels(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(UNBOUND, app="a")
    cluster.kubelet.let(UNREADY, app="b")
    for name in ("a", "b"):
        await cluster.create(cluster.path("pods"), pod(name, labels={"app": name}))
    found = await cluster.until("pods", "b", lambda it: it["status"].get("podIP"))
    assert not ready(found)
    assert "nodeName" not in (await cluster.get(cluster.path("pods", "a")))["spec"]
    cluster.kubelet.let(READY)
    await cluster.until("pods", "a", ready)
    cluster.kubelet.let(ENDED, app="a")
    await cluster.until("pods", "a", lambda it: it["status"]["phase"] == "Succeeded")


async def test_deletion_waits_for_the_kubelet(cluster: ControllerCluster) -> None:
    cluster.kubelet.let(LINGERING)
    await cluster.create(cluster.path("pods"), pod("a"))
    await cluster.until("pods", "a", ready)
    await cluster.delete(cluster.path("pods", "a"))
    kept = await cluster.get(cluster.path("pods", "a"))
    assert kept["metadata"]["deletionGracePeriodSeconds"] == 30
    cluster.kubelet.let(READY)
    await cluster.until_gone("pods", "a")


def ready(pod: JsonObject) -> bool:
    conditions = pod["status"].get("conditions") or []
    return ("Ready", "True") in [(each["type"], each["status"]) for each in conditions]
