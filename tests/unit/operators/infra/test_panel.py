"""Clusters on the console."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.operators.infra.api.cluster import Cluster, ClusterSpec
from quintant.operators.infra.api.cluster_status import ClusterStatus, LastError, MadeNodes
from quintant.operators.infra.panel import cluster_row
from quintant.testing import named


def cluster(status: ClusterStatus | None) -> Cluster:
    return Cluster(metadata=named("a"), spec=ClusterSpec(), status=status)


@pytest.mark.parametrize(
    ("word", "state"),
    [("ONLINE", "well"), ("CREATING", "working"), ("FAILED", "broken"), ("OFFLINE", "broken"),
     ("STRANGE", "unknown"), (None, "unknown")],
)  # fmt: skip
def test_a_cluster_is_what_its_state_says(word: Any, state: str) -> None:
    assert cluster_row(cluster(ClusterStatus(state=word))).state == state


def test_a_cluster_shows_its_nodes_and_what_went_wrong_last() -> None:
    error = LastError(time="2026-01-01T00:00:00Z", operation="Create", reason="Quota")
    status = ClusterStatus(
        state="FAILED", phase_message="no machines left", nodes=MadeNodes(total=3, ready=1),
        last_errors=(error,),
    )  # fmt: skip
    row = cluster_row(cluster(status))
    assert row.sentence == "no machines left"
    assert row.cells[2] == "1/3"
    assert row.cells[4] == "Create Quota at 2026-01-01T00:00:00Z"


def test_what_failed_lately_is_there_the_newest_first() -> None:
    errors = tuple(
        LastError(time=f"2026-01-0{at}T00:00:00Z", operation="Update", reason=f"R{at}")
        for at in range(1, 6)
    )
    row = cluster_row(cluster(ClusterStatus(state="ONLINE", last_errors=errors)))
    assert row.cells[4].split("; ")[0] == "Update R5 at 2026-01-05T00:00:00Z"
    assert row.cells[4].count("; ") == 2


def test_a_cluster_without_a_status_is_unknown() -> None:
    assert cluster_row(cluster(None)).state == "unknown"
