"""What was asked for, and how far it is.

    PENDING --launched--> RUNNING --cluster and nodes ready--> CONFIGURED --update--> RUNNING
       any --it could not be made--> FAILED        any --asked for its end--> DELETING --> gone

One task at a time works on an infrastructure: its launch, an update, its end.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from pathlib import Path

from quintant.agents.imsimulator.cluster import ClusterFailed, MadeCluster
from quintant.agents.imsimulator.options import SimulatorOptions
from quintant.agents.imsimulator.template import MachineSpec

FRONT = 0
"""The number of the front machine: the first that is made."""


class Phase(Enum):
    """How far an infrastructure is, in IM's words."""

    PENDING = "pending"
    RUNNING = "running"
    CONFIGURED = "configured"
    FAILED = "failed"
    DELETING = "deleting"


@dataclass(slots=True)
class Infrastructure:
    """One cluster of a user."""

    id: str
    owner: str
    text: str
    """Its template, as it was sent last."""
    cluster: MadeCluster
    phase: Phase = Phase.PENDING
    machines: dict[int, MachineSpec] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    work: asyncio.Lock = field(default_factory=asyncio.Lock)
    _numbers: count[int] = field(default_factory=count)

    @classmethod
    def of(cls, id: str, owner: str, text: str, options: SimulatorOptions) -> Infrastructure:
        """One of which nothing is there yet."""
        cluster = MadeCluster(options.listen, Path(options.folder) / f"imsimulator-{id}")
        return cls(id, owner, text, cluster)

    @property
    def now(self) -> Phase:
        """How far it is; a cluster whose process ended has failed."""
        lost = self.phase is Phase.CONFIGURED and not self.cluster.runs
        return Phase.FAILED if lost else self.phase

    @property
    def kubeconfig(self) -> str | None:
        """The way into its cluster, once there is one."""
        return self.cluster.kubeconfig if self.now is Phase.CONFIGURED else None

    def name(self, number: int) -> str:
        """What a machine is called; machines but the front are Nodes of this name."""
        return f"{self.machines[number].role}-{number}"

    async def launch(self, wanted: tuple[MachineSpec, ...], seconds: float) -> None:
        """Make everything; what goes wrong is in the log."""
        async with self.work:
            await asyncio.sleep(seconds)
            if self.phase is not Phase.PENDING:
                return
            self.phase = Phase.RUNNING
            self.machines = {next(self._numbers): spec for spec in wanted}
            await self._configure(list(self.machines), first=True)

    async def update(self, wanted: tuple[MachineSpec, ...]) -> list[int]:
        """Add and take away machines; the numbers of those that are new."""
        async with self.work:
            if self.phase is Phase.DELETING:
                return []
            added, removed = difference(self.machines, wanted)
            self.phase = Phase.RUNNING
            for number in removed:
                await self.cluster.remove_node(self.name(number))
                del self.machines[number]
            fresh = {next(self._numbers): spec for spec in added}
            self.machines |= fresh
            await self._configure(list(fresh))
            return list(fresh)

    async def end(self) -> None:
        """End everything that was made."""
        self.phase = Phase.DELETING
        async with self.work:
            await self.cluster.stop()

    async def _configure(self, numbers: list[int], *, first: bool = False) -> None:
        try:
            if first:
                await self.cluster.start()
            for number in numbers:
                if number != FRONT:
                    await self.cluster.add_node(self.name(number), self.machines[number])
            await self.cluster.nodes_ready()
        except (ClusterFailed, OSError, TimeoutError) as error:
            self.log.append(str(error))
            self.phase = Phase.FAILED
            return
        self.log.append(f"configured {len(self.machines)} machines")
        if self.phase is Phase.RUNNING:
            self.phase = Phase.CONFIGURED


def difference(
    machines: dict[int, MachineSpec], wanted: tuple[MachineSpec, ...]
) -> tuple[list[MachineSpec], list[int]]:
    """What is to be made, and the numbers of what is to go: the newest, and never the front."""
    missing = Counter(wanted)
    surplus: list[int] = []
    for number, spec in sorted(machines.items()):
        if missing[spec] > 0:
            missing[spec] -= 1
        elif number != FRONT:
            surplus.append(number)
    return list(missing.elements()), surplus
