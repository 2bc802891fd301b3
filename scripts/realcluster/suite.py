"""Running tests/cluster in this process, and in the network of the cluster's outside."""

from pathlib import Path

import pytest

from realcluster import network
from realcluster.cluster import RealCluster

TESTS = Path(__file__).parents[2] / "tests" / "cluster"
CLUSTER = pytest.StashKey[RealCluster]()
FULL = pytest.StashKey[bool]()


class _Given:
    """The plugin by which tests get at the cluster that runs."""

    def __init__(self, cluster: RealCluster, *, full: bool) -> None:
        self._cluster, self._full = cluster, full

    def pytest_configure(self, config: pytest.Config) -> None:
        """Hand it on."""
        config.stash[CLUSTER] = self._cluster
        config.stash[FULL] = self._full


def run_tests(cluster: RealCluster, *, full: bool, select: str = "") -> int:
    """Run the tests; what pytest ends with. Output is not kept: it has lines of progress."""
    words = ["-q", "-x", "-s", "--tb=native", *(("-k", select) if select else ()), str(TESTS)]
    with network.entered(cluster.control_plane.holder):
        return int(pytest.main(words, plugins=[_Given(cluster, full=full)]))
