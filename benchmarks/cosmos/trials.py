"""The trials of the Cosmos operator: one cause after another, and how soon its effect is seen.

`python -m benchmarks.cosmos.trials FULL_NODES TRIALS` prints the figures as JSON; with
`COSMOS_OPERATOR` and the word `original` at its end, the operator is the program that it names.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from statistics import mean
from typing import Any

import msgspec

from benchmarks.cosmos.chain import many_files
from benchmarks.cosmos.world import (
    FULL_NODES,
    NAMESPACE,
    SCHEDULES,
    World,
    full_node,
    opened,
    operator,
)
from processes.usage import MEGABYTE, usage
from quintant.operators.cosmos.api.status import SyncInfo
from quintant.runtime.observe import logs

SYNC_SECONDS = 12.0
"""From the start of a node to being in sync: a real one takes minutes."""
WIDE, WAVE = 20, 5
"""Nodes that are rolled, and a quarter of them."""
REST_SECONDS = 60.0
SILENCED = 10
"""Nodes that die and come back, each of another CosmosFullNode."""
ORIGINAL = ("--metrics-bind-address", "127.0.0.1:0", "--health-probe-bind-address", "127.0.0.1:0")
POLL_SECONDS = 0.05


class Figures(msgspec.Struct):
    """Seconds, unless said otherwise."""

    complete: float
    """From nothing to Complete, all of them."""
    core: float
    """Of one core, meanwhile."""
    peak: float
    """Megabytes of the operator, at most."""
    rest: float
    """Of one core, at rest."""
    statuses: float
    """Status writes at rest, of one CosmosFullNode in a minute."""
    others: int
    """Other writes at rest."""
    successors: list[float]
    dead: list[float]
    back: list[float]
    one_pod: float
    """Stop, start and sync of one pod, by its node's own word."""
    rollout: float
    away: list[float]
    """A pod away for a snapshot, beyond the snapshot itself."""


class Trials:
    """A world, and what is done to it."""

    def __init__(self, world: World, pid: int) -> None:
        self.world, self.pid = world, pid

    async def figures(self, count: int, trials: int) -> Figures:
        """All trials, in order."""
        world = self.world
        _say(f"{count} CosmosFullNodes from nothing")
        began = time.monotonic()
        for number in range(count):
            await world.post(FULL_NODES, full_node(f"hub{number}"))
        complete = await world.until(lambda: len(world.settled) == count) - began
        used = usage(self.pid)
        rest, statuses, others = await self._rest(count)
        _say("successors of pods that are deleted")
        successors = [await self._successor(number % count) for number in range(trials)]
        await world.until(lambda: len(world.settled) == count)
        _say("nodes that die")
        names = [f"hub{number}-1" for number in range(min(SILENCED, count))]
        dead = await asyncio.gather(*map(self._dead, names))
        back = await asyncio.gather(*map(self._back, names))
        one, rollout, away = await self._wide()
        peak = usage(self.pid).peak / MEGABYTE
        return Figures(
            complete, used.cpu / complete, peak, rest, statuses, others, successors, dead, back,
            one, rollout, away,
        )  # fmt: skip

    async def _rest(self, count: int) -> tuple[float, float, int]:
        await asyncio.sleep(REST_SECONDS / 4)
        _say("at rest")
        self.world.cluster.server.audit.clear()
        before = usage(self.pid).cpu
        await asyncio.sleep(REST_SECONDS)
        written = self.world.writes()
        statuses = sum(each.resource == "cosmosfullnodes/status" for each in written)
        core = (usage(self.pid).cpu - before) / REST_SECONDS
        return core, statuses / count / (REST_SECONDS / 60), len(written) - statuses

    async def _successor(self, number: int) -> float:
        world, name = self.world, f"hub{number}-{number % 3}"
        await world.until(lambda: name in world.pods and not world.pods[name].deleting)
        pod = world.pods[name]
        began = time.monotonic()
        await world.client.delete(pod, grace=0)
        return await world.until(lambda: self._another(name, pod.metadata.uid)) - began

    async def _dead(self, name: str) -> float:
        began = time.monotonic()
        await self.world.nodes.stop(name)
        return await self.world.until(lambda: bool(self._sync(name).error)) - began

    async def _back(self, name: str) -> float:
        began = time.monotonic()
        await self.world.nodes.start(name)
        return await self.world.until(lambda: self._sync(name).in_sync is True) - began

    async def _wide(self) -> tuple[float, float, list[float]]:
        """One wide CosmosFullNode is rolled, another one is copied meanwhile."""
        _say(f"a rolling update of {WIDE} nodes, and snapshots")
        world = self.world
        schedule: dict[str, Any] = {
            "apiVersion": "cosmos.strange.love/v1alpha1", "kind": "ScheduledVolumeSnapshot",
            "metadata": {"name": "copies", "namespace": NAMESPACE},
            "spec": {
                "fullNodeRef": {"name": "hub0"}, "schedule": "* * * * *", "deletePod": True,
                "volumeSnapshotClassName": "standard",
            },
        }  # fmt: skip
        await world.post(SCHEDULES, schedule)
        quarter = {"maxUnavailable": "25%"}
        await world.post(FULL_NODES, full_node("wide", WIDE, strategy=quarter))
        await world.until(lambda: "wide" in world.settled)
        one = mean(await asyncio.gather(*(self._one_pod(f"wide-{at}") for at in range(WAVE))))
        await world.until(lambda: "wide" in world.settled)
        began = time.monotonic()
        await world.merge(f"{FULL_NODES}/wide", {"spec": {"podTemplate": {"image": "gaia:v2"}}})
        rolled = await world.until(self._rolled)
        away = self._aways()
        while not away:
            await asyncio.sleep(POLL_SECONDS)
            away = self._aways()
        return one, rolled - began, away

    async def _one_pod(self, name: str) -> float:
        world, pod = self.world, self.world.pods[name]
        began = time.monotonic()
        await world.client.delete(pod)
        await world.until(lambda: self._another(name, pod.metadata.uid))
        uid = world.pods[name].metadata.uid
        await world.until(lambda: world.nodes.synced_at(uid) is not None)
        synced = world.nodes.synced_at(uid)
        assert synced is not None
        return synced - began

    def _rolled(self) -> bool:
        pods = [pod for name, pod in self.world.pods.items() if name.startswith("wide-")]
        new = [each for pod in pods for each in pod.spec.containers if each.image == "gaia:v2"]
        return len(new) == len(pods) == WIDE and "wide" in self.world.settled

    def _aways(self) -> list[float]:
        """For each snapshot: pod gone until its successor is there, less the snapshot."""
        world, found = self.world, []
        for snapshot in world.snapshots.values():
            uid, source = snapshot.metadata.uid, snapshot.spec.source
            pod = (source.persistent_volume_claim_name or "").removeprefix("pvc-")
            if uid in world.ready_at and pod in world.pods and pod in world.gone_at:
                gone, there = world.gone_at[pod], world.born_at[world.pods[pod].metadata.uid]
                taken = world.ready_at[uid] - world.born_at[uid]
                if there > gone:
                    found.append(there - gone - taken)
        return found

    def _another(self, name: str, uid: str) -> bool:
        pod = self.world.pods.get(name)
        return pod is not None and pod.metadata.uid != uid

    def _sync(self, name: str) -> SyncInfo:
        status = self.world.full_nodes[name.rpartition("-")[0]].status
        known = status.sync.get(name) if status is not None else None
        return known or SyncInfo(timestamp="")


async def measure(count: int, trials: int, *command: str) -> Figures:
    """One operator, in one world."""
    room = 3 * count + WIDE
    async with opened(room, SYNC_SECONDS) as world, operator(world.cluster, command) as pid:
        return await Trials(world, pid).figures(count, trials)


def _say(what: str) -> None:
    print(f"· {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    import uvloop

    many_files()
    logs.configure(level="error")
    counts, given = [int(each) for each in sys.argv[1:3]], sys.argv[3:]
    program = (os.environ["COSMOS_OPERATOR"], *ORIGINAL) if given else ()
    print(msgspec.json.encode(uvloop.run(measure(counts[0], counts[1], *program))).decode())
