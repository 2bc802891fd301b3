"""What happens to any cluster: nodes, pods, watches, history, and the operators' own processes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from quintant.api.core import Node, Pod
from quintant.cluster.common.labels import POD
from quintant.testing.simulate.plan import Occurrence, Planned
from quintant.testing.simulate.program import SimulatedOperator
from quintant.testing.simulate.world import SimulatedWorld

MINUTE, HOUR = 60.0, 3600.0
CRASH_LOOK_SECONDS = 2.0
"""How often it is looked whether a pod that crashes was started again: it runs for five seconds."""
MOST_LOOKS = 300
"""As many of them as the longest wait for a next try, and as long again."""

Undo = Callable[[], Awaitable[None]]
Begin = Callable[[float], Awaitable[Undo | None]]
"""Given a chance from 0 to 1: what happens; it returns what ends it, if it lasts."""


@dataclass(frozen=True, slots=True)
class RecurringDisturbance:
    """Something that happens again and again, and how."""

    occurrence: Occurrence
    begin: Begin


def chosen(chance: float, count: int) -> int:
    """Which of so many."""
    return min(int(chance * count), count - 1)


class ClusterDisturbances:
    """Those that need to know nothing of any operator."""

    def __init__(self, world: SimulatedWorld, programs: Mapping[str, SimulatedOperator]) -> None:
        self._world, self._programs = world, programs
        world.assertions.expect(LEADER_LOST, LEADERS_LOST)

    def all(self) -> list[RecurringDisturbance]:
        """All of them, with how often they happen."""
        return [
            RecurringDisturbance(
                Occurrence("node dies", 1.5 * HOUR, 20 * MINUTE), self._fail("dead")
            ),
            RecurringDisturbance(
                Occurrence("node is cut off", 3 * HOUR, 15 * MINUTE), self._fail("partitioned")
            ),
            RecurringDisturbance(
                Occurrence("pod crashes", 1.5 * HOUR, 5 * MINUTE), self._crash_pod
            ),
            RecurringDisturbance(Occurrence("pod is deleted", 1.5 * HOUR), self._delete_pod),
            RecurringDisturbance(Occurrence("watches break", 1 * HOUR), self._break_watches),
            RecurringDisturbance(Occurrence("history is compacted", 2 * HOUR), self._compact),
            RecurringDisturbance(Occurrence("operator crashes", 1.5 * HOUR), self._crash),
            RecurringDisturbance(
                Occurrence("leader is cut off", 3 * HOUR, 10 * MINUTE), self._cut_off_leader
            ),
            RecurringDisturbance(Occurrence("operator is rolled out", 4 * HOUR), self._roll_out),
        ]

    def _fail(self, fault: str) -> Begin:
        async def fail(chance: float) -> Undo | None:
            world, dead = self._world, self._world.dead_nodes()
            nodes = [each for each in world.all(Node) if each.metadata.name not in dead]
            if not nodes or len(dead) > len(nodes) / 4:
                return None
            node = nodes[chosen(chance, len(nodes))]
            world.timeline.tell(f"node {node.metadata.name} is {fault}")
            await world.set_fault(node, fault)

            async def recover() -> None:
                world.timeline.tell(f"node {node.metadata.name} is back")
                await world.set_fault(node, None)

            return recover

        return fail

    def _a_pod(self, chance: float) -> Pod | None:
        found = [
            each
            for each in self._world.all(Pod)
            if each.status.phase == "Running" and not each.deleting
            and POD in each.metadata.annotations
        ]  # fmt: skip
        return found[chosen(chance, len(found))] if found else None

    async def _crash_pod(self, chance: float) -> Undo | None:
        pod = self._a_pod(chance)
        if pod is None:
            return None
        self._world.timeline.tell(f"pod {pod.key} crashes")
        await self._world.set_fate(pod, "crash")

        async def recover() -> None:
            # A pod that waits for its next try is left alone: it is a real one that is mended.
            for _ in range(MOST_LOOKS):
                if not self._world.waits(pod):
                    break
                await asyncio.sleep(CRASH_LOOK_SECONDS)
            await self._world.set_fate(pod, None)

        return recover

    async def _delete_pod(self, chance: float) -> None:
        pod = self._a_pod(chance)
        if pod is not None:
            self._world.timeline.tell(f"pod {pod.key} is deleted")
            await self._world.delete(pod)

    async def _break_watches(self, chance: float) -> None:
        name, program = self._program(chance)
        self._world.timeline.tell(f"the watches of {name} break")
        program.break_watches()

    async def _compact(self, chance: float) -> None:
        name, program = self._program(chance)
        self._world.timeline.tell(f"the history is compacted while the watches of {name} are cut")
        program.break_watches()
        self._world.cluster.server.compact()

    async def _crash(self, chance: float) -> None:
        name, program = self._program(chance)
        self._world.timeline.tell(f"{name} is killed")
        program.crash()

    async def _cut_off_leader(self, chance: float) -> Undo | None:
        name, program = self._program(chance)
        reconnect = program.cut_off_leader()
        if reconnect is None:
            return None
        self._world.timeline.tell(f"the leader of {name} is cut off")
        self._world.assertions.sometimes(LEADER_LOST, holds=bool(self._world.dead_nodes()))
        others = [each for each in self._programs.values() if each is not program]
        self._world.assertions.sometimes(
            LEADERS_LOST, holds=any(each.leader() is None for each in others)
        )

        async def recover() -> None:
            self._world.timeline.tell(f"the leader of {name} that was cut off is back")
            reconnect()

        return recover

    async def _roll_out(self, chance: float) -> None:
        name, program = self._program(chance)
        self._world.timeline.tell(f"{name} is rolled out")
        await program.roll_out()

    def _program(self, chance: float) -> tuple[str, SimulatedOperator]:
        names = sorted(self._programs)
        name = names[chosen(chance, len(names))]
        return name, self._programs[name]


LEADER_LOST = "a leader was cut off while a node was silent"
LEADERS_LOST = "a leader was cut off while another operator had none"


async def carry_out(each: Planned, begin: Begin) -> None:
    """Wait for something that is planned, let it happen, and end it when it is over."""
    loop = asyncio.get_running_loop()
    await asyncio.sleep(max(0.0, each.at - loop.time()))
    undo = await begin(each.chance)
    if undo is not None:
        await asyncio.sleep(max(0.0, each.until - loop.time()))
        await undo()
