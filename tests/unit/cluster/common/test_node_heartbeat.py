"""The times of heartbeats follow from the grace: no node that is well is given up."""

from __future__ import annotations

import pytest

from quintant.cluster.common.node_heartbeat import SHORTEST_SECONDS, HeartbeatTimes


def test_the_usual_times_are_those_of_a_real_cluster() -> None:
    times = HeartbeatTimes()
    assert (times.grace, times.renew, times.lease, times.round) == (50.0, 10.0, 40, 5.0)


@pytest.mark.parametrize("grace", [SHORTEST_SECONDS, 5.0, 20.0, 50.0, 600.0])
def test_a_lease_is_renewed_and_looked_at_several_times_within_the_grace(grace: float) -> None:
    times = HeartbeatTimes(grace)
    assert 4 * times.renew <= grace
    assert 8 * times.round <= max(grace, 8 * 5.0)
    assert times.renew < times.lease
    assert times.renew + times.absent < grace, "a pause that is not noticed costs no node"
