"""What is shown of a Cluster: a tree, and what a template would change; never a value of it."""

from __future__ import annotations

from typing import Any

from quintant.core import codec
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.observed.answers import Estimate
from quintant.operators.infra.report import describe, planned
from testbeds.infra import template

STATUS = {
    "state": "FAILING_RECONCILIATION",
    "phaseMessage": "machine 1: unconfigured",
    "runningOn": {"kind": "Cloud", "name": "here", "providerKind": "P", "providerName": "im"},
    "clusterID": "inf-1",
    "operation": {"type": "Reconfigure", "phase": "Waiting", "attempt": 2, "progress": 50,
                  "startedAt": "2026-01-01T00:00:00Z", "notBefore": "2026-01-01T00:01:00Z"},
    "infrastructure": {"state": "unconfigured", "message": "task failed", "vms": [
        {"id": "0", "name": "front", "state": "configured", "addresses": ["10.0.0.1"]},
        {"id": "1", "name": "wn", "state": "unconfigured"}]},
    "kubeconfigSecretRef": {"name": "one-kubeconfig", "key": "value"},
    "apiServerEndpoint": "https://made:6443",
    "nodes": {"total": 1, "ready": 0, "items": [
        {"name": "a", "ready": False, "conditions": ["DiskPressure"]}]},
    "conditions": [{"type": "Ready", "status": "False", "reason": "R", "message": "why"}],
    "lastErrors": [{"time": "2026-01-01T00:00:00Z", "operation": "Update", "class": "Internal",
                    "reason": "ProviderError", "message": "boom"}],
}  # fmt: skip


def cluster(**status: Any) -> Cluster:
    document = template(2)
    document["topology_template"]["inputs"]["admin_token"] = {"default": "s3cret"}
    body = {
        "metadata": {"name": "one", "namespace": "default"},
        "spec": {"tosca": document},
        "status": {**status, "lastAppliedTosca": document},
    }
    return codec.decode(Cluster, codec.encode(body))


def test_tree_has_everything_that_is_known() -> None:
    said = describe(cluster(**STATUS))
    assert said.splitlines() == [
        "Cluster default/one  FAILING_RECONCILIATION  machine 1: unconfigured",
        "├── Cloud Cloud/here, by P/im",
        "├── Operation Reconfigure Waiting, 50 % configured",
        "│   ├── since 2026-01-01T00:00:00Z, attempt 2",
        "│   └── next attempt not before 2026-01-01T00:01:00Z",
        "├── Infrastructure inf-1  unconfigured",
        "│   ├── machine 0  front  configured  10.0.0.1",
        "│   ├── machine 1  wn  unconfigured",
        "│   └── task failed",
        "├── Kubeconfig in Secret one-kubeconfig",
        "├── Nodes 0 of 1 ready, https://made:6443",
        "│   └── a  not ready, DiskPressure",
        "├── Conditions",
        "│   └── Ready=False  R  why",
        "└── Last errors",
        "    └── 2026-01-01T00:00:00Z  Update  ProviderError: boom",
    ]


def test_cluster_of_which_nothing_is_known_is_pending() -> None:
    assert describe(cluster()).splitlines()[0] == "Cluster default/one  PENDING"


def test_no_value_of_a_template_is_shown() -> None:
    after = template(3)
    after["topology_template"]["inputs"]["admin_token"] = {"default": "an0ther"}
    found = cluster(**STATUS)
    assert found.spec.tosca is not None
    said = describe(found) + planned(found.spec.tosca.value, after, Estimate(4, ("c.here",)))
    assert "s3cret" not in said
    assert "an0ther" not in said
    assert "replace /topology_template/inputs/admin_token/default" in said


def test_plan_counts_machines_and_says_what_the_provider_keeps() -> None:
    after = template(3)
    del after["topology_template"]["node_templates"]["front"]
    said = planned(template(1), after, "it does not answer")
    assert "  front: 1 -> 0" in said
    assert "  wn: 1 -> 3" in said
    assert "would keep: /topology_template/node_templates/front" in said
    assert "not asked: it does not answer" in said
