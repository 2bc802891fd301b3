"""Chains on the console."""

from __future__ import annotations

from quintant.core import codec
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.panel import full_node_row

CHAIN = {"chainID": "hub", "network": "n", "binary": "gaiad"}
SPEC = {
    "replicas": 2, "chain": CHAIN, "podTemplate": {},
    "volumeClaimTemplate": {"storageClassName": "s", "resources": {}},
}  # fmt: skip


def full_node(status: object) -> CosmosFullNode:
    plain = {"metadata": {"name": "a"}, "spec": SPEC, **({"status": status} if status else {})}
    return codec.from_plain(CosmosFullNode, plain)


READY = [{"type": "Ready", "status": "True", "message": "in sync"}]


def test_a_chain_shows_its_height_and_how_many_are_in_sync() -> None:
    sync = {"a-0": {"timestamp": "2026-01-01T00:00:00Z", "height": 7}}
    row = full_node_row(
        full_node({"phase": "Complete", "sync": sync, "inSyncReplicas": 1, "conditions": READY})
    )
    assert (row.state, row.sentence) == ("well", "in sync")
    assert row.cells[:4] == ("hub", "Complete", "7", "1/2")
    assert row.figures == {"cosmos-height": 7.0}


def test_a_phase_that_is_worse_than_the_conditions_counts() -> None:
    assert full_node_row(full_node({"phase": "Error", "conditions": READY})).state == "broken"
    assert (
        full_node_row(full_node({"phase": "Progressing", "conditions": READY})).state == "working"
    )


def test_a_chain_without_a_status_is_unknown() -> None:
    assert full_node_row(full_node(None)).state == "unknown"
    assert full_node_row(full_node({"phase": "Strange"})).state == "unknown"
