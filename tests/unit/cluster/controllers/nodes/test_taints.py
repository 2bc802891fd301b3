"""When a pod has to leave a node, by the node's taints and its own tolerations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from quintant.api.core import Taint, Toleration
from quintant.cluster.controllers.nodes.taints import UNREACHABLE, eviction_time

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TAINT = Taint(key=UNREACHABLE, effect="NoExecute", time_added="2026-01-01T00:00:00Z")


def tolerated(seconds: int) -> datetime | None:
    return eviction_time(
        (Toleration(operator="Exists", toleration_seconds=seconds),), (TAINT,), NOW
    )


def test_a_pod_leaves_when_its_toleration_ends() -> None:
    assert tolerated(30) == NOW + timedelta(seconds=30)
    assert tolerated(-5) == NOW


def test_a_toleration_longer_than_any_time_keeps_its_pod() -> None:
    until = tolerated(2**63 - 1)
    assert until is not None
    assert until > NOW + timedelta(days=36_500)
