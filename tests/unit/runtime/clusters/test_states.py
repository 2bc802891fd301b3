"""What a cluster is at follows from what is known of it."""

from __future__ import annotations

import pytest

from quintant.runtime.clusters.states import ClusterFacts, ClusterState, condition_of


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        (ClusterFacts(), ClusterState.CONNECTING),
        (ClusterFacts(synced=True), ClusterState.READY),
        (ClusterFacts(failing="pods: refused"), ClusterState.AWAY),
        (ClusterFacts(synced=True, failing="pods: refused"), ClusterState.AWAY),
        (ClusterFacts(refusal="exec"), ClusterState.REFUSED),
        (ClusterFacts(refusal="exec", synced=True, failing="x"), ClusterState.REFUSED),
    ],
)
def test_the_state_follows_from_the_facts(facts: ClusterFacts, state: ClusterState) -> None:
    condition = condition_of(facts)
    assert condition.state is state
    assert condition.reason == (facts.refusal or facts.failing)
