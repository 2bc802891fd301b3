"""What an object waits for, as a table."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.cli.apply.rollout import pending


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ({"kind": "ConfigMap"}, ""),
        ({}, ""),
        ({"kind": "Pod"}, "it is not Ready yet"),
        ({"kind": "Pod", "status": {"conditions": [{"type": "Ready", "status": "True"}]}}, ""),
        ({"kind": "Job", "status": {"conditions": [{"type": "Complete", "status": "True"}]}}, ""),
        ({"kind": "Deployment", "spec": {"replicas": 2}}, "0 of 2 replicas are ready"),
        ({"kind": "Deployment", "spec": {"replicas": 0}}, ""),
        (
            {
                "kind": "Deployment",
                "metadata": {"generation": 2},
                "status": {"observedGeneration": 1, "readyReplicas": 1, "updatedReplicas": 1},
            },
            "its controller has not seen it yet",
        ),
        ({"kind": "Deployment", "status": {"readyReplicas": 1, "updatedReplicas": 1}}, ""),
        ({"kind": "ReplicaSet", "status": {"readyReplicas": 1, "replicas": 1}}, ""),
        ({"kind": "DaemonSet"}, "its controller has not seen it yet"),
        (
            {
                "kind": "DaemonSet",
                "status": {"observedGeneration": 1, "desiredNumberScheduled": 2, "numberReady": 1},
            },
            "1 of 2 pods are ready",
        ),
    ],
)
def test_an_object_waits_for_what_its_status_lacks(obj: dict[str, Any], message: str) -> None:
    assert pending(obj) == message
