"""The suite's own kubelet, on both servers: checks of controllers rest on what it does."""

from __future__ import annotations

from conformance.kubelet import ENDED, LINGERING, READY, UNBOUND, UNREADY
from conformance.workshop import Workshop
from unit.cluster.api import Plain, pod


async def test_145_pod_is_bound_started_and_ready(workshop: Workshop) -> None:
    await workshop.create(workshop.path("pods"), pod("a"))
    found = await workshop.until("pods", "a", ready)
    assert found["spec"]["nodeName"] in workshop.kubelet.nodes
    assert (found["status"]["phase"], found["status"]["qosClass"]) == ("Running", "BestEffort")


async def test_145_fate_of_pods_is_told_by_labels(workshop: Workshop) -> None:
    workshop.kubelet.let(UNBOUND, app="a")
    workshop.kubelet.let(UNREADY, app="b")
    for name in ("a", "b"):
        await workshop.create(workshop.path("pods"), pod(name, labels={"app": name}))
    found = await workshop.until("pods", "b", lambda it: it["status"].get("podIP"))
    assert not ready(found)
    assert "nodeName" not in (await workshop.get(workshop.path("pods", "a")))["spec"]
    workshop.kubelet.let(READY)
    await workshop.until("pods", "a", ready)
    workshop.kubelet.let(ENDED, app="a")
    await workshop.until("pods", "a", lambda it: it["status"]["phase"] == "Succeeded")


async def test_145_deletion_waits_for_the_kubelet(workshop: Workshop) -> None:
    workshop.kubelet.let(LINGERING)
    await workshop.create(workshop.path("pods"), pod("a"))
    await workshop.until("pods", "a", ready)
    await workshop.delete(workshop.path("pods", "a"))
    kept = await workshop.get(workshop.path("pods", "a"))
    assert kept["metadata"]["deletionGracePeriodSeconds"] == 30
    workshop.kubelet.let(READY)
    await workshop.until_gone("pods", "a")


def ready(pod: Plain) -> bool:
    conditions = pod["status"].get("conditions") or []
    return ("Ready", "True") in [(each["type"], each["status"]) for each in conditions]
