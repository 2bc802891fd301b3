"""Running tests/cluster in this process, and in the network of the cluster's outside."""

from pathlib import Path

import pytest

from realcluster import network
from realcluster.cluster import RealCluster

TESTS = Path(__file__).parents[2] / "tests" / "cluster"
CLUSTER = pytest.StashKey[RealCluster]()
FULL = pytest.StashKey[bool]()
_IMPORTED = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
"""pytest would rewrite the package of its plugin, which made the cluster before pytest began."""


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
    with network.entered(cluster.control_plane.holder):
        return int(pytest.main(pytest_words(select), plugins=[_Given(cluster, full=full)]))


def pytest_words(select: str = "") -> list[str]:
    """The command line of pytest, in a process that has imported quintant already."""
    selected = ("-k", select) if select else ()
    return ["-q", "-x", "-s", "--tb=native", "-W", _IMPORTED, *selected, str(TESTS)]
