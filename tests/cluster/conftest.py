"""The cluster that `make test-cluster` started, with operators and samples, for the whole run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

import patience
from cluster.history import Plain, recorded
from cluster.user import User
from foreign.errors import ProgramError, announce
from realcluster.cluster import RealCluster
from realcluster.kubectl import Helm, Kubectl
from realcluster.samples import Outcome
from realcluster.suite import CLUSTER, FULL


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> RealCluster:
    """The cluster; tests that need it are not run without one."""
    found = request.config.stash.get(CLUSTER, None)
    if found is None:
        pytest.skip("these tests are run by make test-cluster")
    return found


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest, cluster: RealCluster) -> None:
    """For tests of minutes: they are run by FULL=1."""
    if not request.config.stash.get(FULL, False):
        pytest.skip("make test-cluster FULL=1 runs it")


@pytest.fixture(scope="session")
def user(cluster: RealCluster) -> User:
    """A user with kubectl."""
    programs, own = cluster.control_plane.programs, cluster.layout.kubeconfig
    tools = Kubectl(programs.kubectl, own), Helm(programs.helm, own)
    return User(*tools, cluster.layout.folder / "user")


@pytest.fixture(scope="session")
def history() -> list[Plain]:
    """Every version of every object of the samples, until all samples came true."""
    return []


@pytest.fixture(scope="session")
def samples(user: User, history: list[Plain]) -> Mapping[str, Outcome]:
    """What became of every sample, once operators and samples are applied."""
    patience.refresh()

    async def bring_up() -> Mapping[str, Outcome]:
        await user.install_all()
        announce("ten operator pods are ready")
        async with recorded(user.kubectl.kubeconfig, history):
            await user.apply_samples()
            return await user.look()

    try:
        return asyncio.run(bring_up())
    except ProgramError as error:
        pytest.fail(str(error), pytrace=False)
