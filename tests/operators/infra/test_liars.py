"""Infrastructure Managers lie for ten minutes: the operator lives, writes little, and touches
nothing that is somebody else's. When they tell the truth again, so does the status, in a minute."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

import pytest
import pytest_asyncio

from quintant.operators.infra.api import Cluster
from quintant.operators.infra.builders import CLUSTER_UID, OWNER
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.remote import Remote
from quintant.testing import InProcessCluster
from quintant.testing.simulate.remotes.infrastructures import ModelledInfrastructure
from testbeds.infra import KINDS, OPTIONS, InfraTestbed, condition, template
from testbeds.infra_liar import LyingManagers

LIES = 200
"""Told in a life by all managers together."""
RUNS = 1 if not os.environ.get("QUINTANT_SOAK") else 25
MINUTES = 10
MANAGERS = 8
"""Each has a Cluster of its own: who does not answer is asked ever more rarely."""
MOST_WRITES = 40 * MANAGERS
"""Of the operator in a minute: statuses that flicker, a few requests on record; no loop."""
MOST_MEMORY = 32 * 1024 * 1024
TRUE_SECONDS, AFTERWARDS_SECONDS = 60, 1800
AT_REST = ("n0", "n2", "n4", "n5", "n6", "n7")
"""Clusters that nobody changes meanwhile."""


class LyingTestbed(InfraTestbed):
    """infra before managers that lie, through the client that it has for real ones."""

    def __init__(self, cluster: InProcessCluster) -> None:
        super().__init__(cluster, OPTIONS)
        self.managers = LyingManagers(self.model)

    def remote(self) -> Remote:
        return Remote(self.managers.at, self.targets)

    async def bound(self, at: int, name: str, **spec: Any) -> None:
        """A Cluster at a manager of its own."""
        ref = {"kind": "Cloud", "name": f"cloud{at}"}
        await self.make(name, cloudRef=ref, **spec)

    async def manager(self, at: int) -> None:
        """A manager, and a cloud behind it."""
        self.url = f"http://im{at}.example.com:8800"
        await self.provider(f"im{at}")
        await self.cloud(
            f"cloud{at}", providerRef={"kind": "InfrastructureProvider", "name": f"im{at}"}
        )

    async def strangers(self) -> dict[str, ModelledInfrastructure]:
        """Infrastructures of the same user that no Cluster has."""
        owner = next(iter(self.model.infrastructures.values())).owner
        made = []
        for at in range(3):
            metadata = {"infra_name": f"theirs-{at}", CLUSTER_UID: f"uid-{at}", OWNER: "another"}
            document = template() | {"metadata": metadata}
            session = ProviderSession(self.url, {}, {})
            made.append(await self.model.create(session, owner, document))
        for _ in range(10):
            self.model.settle()
            await self.cluster.advance(1)
        return {id: deepcopy(self.model.infrastructures[id]) for id in made}

    def written(self) -> int:
        """Writes of the operator so far."""
        assert self.account is not None
        reads = ("get", "list", "watch")
        return sum(each.verb not in reads for each in self.account.requests())


@pytest_asyncio.fixture
async def lying() -> AsyncIterator[LyingTestbed]:
    cluster = InProcessCluster(rbac=True)
    await cluster.install(*KINDS)
    testbed = LyingTestbed(cluster)
    await testbed.start()
    try:
        yield testbed
    finally:
        await cluster.close()


@pytest.mark.parametrize("run", range(RUNS))
async def test_liars_harm_nothing_and_the_truth_comes_back(
    lying: LyingTestbed, run: int, capsys: pytest.CaptureFixture[str]
) -> None:
    strangers = await begin(lying, MANAGERS)
    tracemalloc.start()
    base = tracemalloc.get_traced_memory()[0]
    lying.managers.lie_from(run * LIES)
    for minute in range(MINUTES):
        before = lying.written()
        await disturb(lying, minute)
        await lying.cluster.advance(60)
        assert lying.written() - before <= MOST_WRITES
        assert tracemalloc.get_traced_memory()[0] - base < MOST_MEMORY
    tracemalloc.stop()
    lying.managers.tell_the_truth()
    assert lying.managers.lies >= LIES
    await lying.cluster.advance(TRUE_SECONDS)
    await assert_true(lying)
    await lying.cluster.advance(AFTERWARDS_SECONDS)
    await assert_ended(lying)
    assert "reconcile failed" not in "".join(capsys.readouterr())
    assert {id: lying.model.infrastructures[id] for id in strangers} == strangers


async def test_seed_223_a_log_that_drips_hides_the_truth_no_longer_than_an_answer_may_take(
    lying: LyingTestbed,
) -> None:
    await begin(lying, 1)
    lying.managers.lie_from(223)
    await lying.cluster.advance(40)  # by then a machine failed, and why is said byte by byte
    lying.managers.tell_the_truth()
    await lying.cluster.advance(TRUE_SECONDS)
    await assert_true(lying)


async def begin(lying: LyingTestbed, managers: int) -> dict[str, ModelledInfrastructure]:
    """Managers with a Cluster each, all well; what they have of others."""
    for at in range(managers):
        await lying.manager(at)
        await lying.bound(at, f"n{at}")
    for at in range(managers):
        await lying.state("ONLINE", name=f"n{at}")
    strangers = await lying.strangers()
    lying.managers.foreign = tuple(strangers)
    return strangers


async def assert_true(lying: LyingTestbed) -> None:
    """What the status of each Cluster says of its manager is so; those at rest are well."""
    for each in await lying.cluster.client.list(Cluster):
        name = each.metadata.name
        assert condition(each, "ProviderReachable") == ("True", "Reachable"), name
        if name in AT_REST:
            assert each.status is not None
            # What was believed to need it may still be configured again.
            assert each.status.state in ("ONLINE", "RECONCILING"), (name, each.status)
            assert condition(each, "Synced")[0] == "True", name


async def assert_ended(lying: LyingTestbed) -> None:
    """What was asked for meanwhile was done in the end, once, and nothing was left behind."""
    clusters = {each.metadata.uid: each for each in await lying.cluster.client.list(Cluster)}
    names = {each.metadata.name for each in clusters.values()}
    assert names == {*AT_REST, "n1", "late"}
    for each in clusters.values():
        assert each.status is not None
        assert each.status.state == "ONLINE", (each.metadata.name, each.status)
    made = [
        each.template["metadata"][CLUSTER_UID]
        for each in lying.model.infrastructures.values()
        if each.template["metadata"][OWNER] != "another"
    ]
    assert sorted(made) == sorted(clusters)
    assert len(lying.model.running) == 3 * 2 + len(clusters) * 2 + 1


async def disturb(lying: LyingTestbed, minute: int) -> None:
    """What users do meanwhile."""
    match minute:
        case 1:
            await lying.scale(2, "n1")
        case 2:
            await lying.bound(2, "late")
        case 3:
            await lying.delete("n3")
