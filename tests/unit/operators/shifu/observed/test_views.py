"""What is held of an object: what a decision needs, whatever else it says."""

from __future__ import annotations

from typing import Any

from quintant.core.codec import from_plain
from quintant.core.object import Request
from quintant.operators.shifu.observed.views import (
    ShifuConfig,
    ShifuDeployment,
    ShifuPod,
    ShifuService,
)

OWNER = {"quintant.dev/owner": "EdgeDevice.shifu.edgenesis.io/devices/camera"}
LABELS = {
    "app.kubernetes.io/managed-by": "shifu-controller",
    "quintant.dev/owner-uid": "u1",
    "shifu.edgenesis.io/compose-hash": "abc",
    "shifu.edgenesis.io/edgedevice-uid": "u1",
}
ENV = [
    {"name": "EDGEDEVICE_NAME", "value": "camera"},
    {"name": "EDGEDEVICE_NAMESPACE", "value": "devices"},
]


def template(node: str) -> dict[str, Any]:
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return {"containers": [{"name": "a"}, {"name": "b", "env": ENV}], "affinity": affinity}


def deployment(node: str = "n1", **meta: Any) -> ShifuDeployment:
    notes = {**OWNER, "shifu.edgenesis.io/placed-node": "n1", "noise": "x"}
    return from_plain(
        ShifuDeployment,
        {
            "metadata": {"name": "d", "labels": LABELS, "annotations": notes, **meta},
            "spec": {"replicas": 1, "template": {"spec": template(node)}},
            "status": {"availableReplicas": 1, "observedGeneration": 3},
        },
    )


def test_of_a_deployment_its_device_and_its_node() -> None:
    found = deployment()
    assert (found.device, found.node, found.managed) == (Request("camera", "devices"), "n1", True)
    assert (found.available, found.drifted) == (True, False)
    assert (found.owner, found.revision) == ("u1", "abc")
    assert (found.metadata.labels, found.metadata.annotations) == ({}, {})


def test_a_deployment_that_somebody_let_run_elsewhere_has_drifted() -> None:
    assert deployment("n2").drifted


def test_a_rollout_that_was_not_seen_yet_is_not_up() -> None:
    assert not deployment(generation=4).available


def test_a_users_deployment_is_known_by_its_variable_alone() -> None:
    found = deployment(labels={"app": "mine"}, annotations={})
    assert (found.managed, found.node, found.device) == (False, "", Request("camera", "devices"))
    nobody = from_plain(ShifuDeployment, {"metadata": {"name": "d"}})
    assert (nobody.managed, nobody.device) == (False, None)


def test_of_a_pod_where_it_is_and_whether_it_waits() -> None:
    waiting = {"type": "PodScheduled", "status": "False", "lastTransitionTime": "t"}
    found = from_plain(
        ShifuPod,
        {"metadata": {"name": "p"}, "spec": template("n1"), "status": {"conditions": [waiting]}},
    )
    assert (found.node, found.wanted, found.unscheduled_since) == ("", "n1", "t")
    assert not found.ready


def test_a_service_that_leads_elsewhere_is_taken() -> None:
    meta = {"name": "s", "labels": LABELS, "annotations": OWNER}
    ours = {"shifu.edgenesis.io/edgedevice-uid": "u1"}
    kept = from_plain(ShifuService, {"metadata": meta, "spec": {"selector": ours}})
    lost = from_plain(ShifuService, {"metadata": meta, "spec": {"selector": {"app": "x"}}})
    assert (kept.taken, lost.taken) == (False, True)
    assert kept.device == Request("camera", "devices")


def test_of_a_configmap_only_which_sections_it_has() -> None:
    found = from_plain(
        ShifuConfig, {"metadata": {"name": "c"}, "data": {"instructions": "x" * 9999, "more": "y"}}
    )
    assert (found.instructions, found.driver, found.device) == (True, False, None)
    assert "xxx" not in repr(found)
