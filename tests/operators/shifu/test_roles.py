"""The rights of shifu, all of them: one more or one less is seen here."""

from __future__ import annotations

from testbeds.rights import DEPLOY, granted

SHIFU = DEPLOY / "shifu"
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
    ("deviceshifu", "", "secrets"): "get",
    ("deviceshifu", "", "services"): WRITTEN,
    ("deviceshifu", "apps", "deployments"): WRITTEN,
    ("shifu-system", "", "pods"): "get",
    ("shifu-system", "coordination.k8s.io", "leases"): "create get patch",
}
"""By namespace (none is the whole cluster), group and resource."""


def test_operator_has_exactly_these_rights() -> None:
    assert granted(SHIFU) == OURS


def test_for_upstreams_agents_it_patches_devices_as_there_is_no_status_of_their_own() -> None:
    devices = ("", "shifu.edgenesis.io", "edgedevices")
    status = ("", "shifu.edgenesis.io", "edgedevices/status")
    expected = {**OURS, devices: "get list patch watch"}
    del expected[status]
    assert granted(SHIFU / "upstream-agents") == expected
