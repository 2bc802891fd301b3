"""Two clusters, explored: one that is away, and a process that dies while it writes there."""

from __future__ import annotations

from explore.greeter import GreetersOfTwoClusters
from quintant.testing import explore_scenario


def test_greeters_of_two_clusters_bear_every_disturbance() -> None:
    explore_scenario(GreetersOfTwoClusters).check()
