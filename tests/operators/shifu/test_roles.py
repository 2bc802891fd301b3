"""The rights of shifu, all of them: one more or one less is seen here."""

from __future__ import annotations

from pathlib import Path

from quintant.core.yaml import load_all

DEPLOY = Path(__file__).parents[3] / "deploy" / "shifu"
READ = "get list watch"
WRITTEN = "create delete get list patch watch"
OURS = {
    ("", "", "nodes"): READ,
    ("", "events.k8s.io", "events"): "create patch",
    ("", "metrics.k8s.io", "nodes"): "get list",
    ("", "shifu.edgenesis.io", "edgedevices"): READ,
    ("", "shifu.edgenesis.io", "edgedevices/status"): "patch",
    ("", "shifu.edgenesis.io", "edgenodes"): "create delete get list watch",
    ("", "shifu.edgenesis.io", "edgenodes/status"): "patch",
    ("deviceshifu", "", "configmaps"): WRITTEN,
    ("deviceshifu", "", "pods"): "delete get list watch",
    ("deviceshifu", "", "services"): WRITTEN,
    ("deviceshifu", "apps", "deployments"): WRITTEN,
    ("shifu-system", "coordination.k8s.io", "leases"): "create get patch",
}
"""By namespace (none is the whole cluster), group and resource."""


def granted(folder: Path) -> dict[tuple[str, str, str], str]:
    """What the roles of an installation grant, put together."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for role in load_all((folder / "rbac.yaml").read_bytes()):
        for rule in role.get("rules", ()):
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    key = role["metadata"].get("namespace", ""), group, resource
                    found.setdefault(key, set()).update(rule["verbs"])
    return {key: " ".join(sorted(verbs)) for key, verbs in found.items()}


def test_operator_has_exactly_these_rights() -> None:
    assert granted(DEPLOY) == OURS


def test_for_upstreams_agents_it_patches_devices_as_there_is_no_status_of_their_own() -> None:
    devices = ("", "shifu.edgenesis.io", "edgedevices")
    status = ("", "shifu.edgenesis.io", "edgedevices/status")
    expected = {**OURS, devices: "get list patch watch"}
    del expected[status]
    assert granted(DEPLOY / "upstream-agents") == expected
