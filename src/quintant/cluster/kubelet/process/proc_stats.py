"""cadvisor ContainerStats: processor time and memory of process trees, read from /proc.

Figures of processor time are an average since the sample before, so two samples make the first
figure. Where there is no /proc there are no figures, and memory limits are not enforced.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from quintant.api.container import Container
from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.kubelet_client.meter import (
    MeasuredNode,
    MeasuredPod,
    NodeUsage,
    PodUsage,
    ResourceUsage,
)
from quintant.cluster.kubelet.container.lifecycle import Moment
from quintant.cluster.kubelet.pod.sandbox import Sandbox
from quintant.core.object import Request

SAMPLE_SECONDS = 2.0
"""Often enough for a memory limit to mean something; a sample of 300 processes takes 10 ms."""
_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
# Of /proc/PID/stat, counted from the state.
_PARENT, _SESSION, _USER, _SYSTEM, _RESIDENT = 1, 3, 11, 12, 21


class ProcStat(NamedTuple):
    """One process at one moment."""

    parent: int
    session: int
    seconds: float
    """Of processor time since it started."""
    memory: int


Table = Mapping[int, ProcStat]


def read_processes() -> Table:
    """Every process of this machine."""
    found = {}
    for entry in _PROC.glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            found[int(entry.name)] = _figures((entry / "stat").read_text())
    return found


class ProcessTrees:
    """Who started whom, and who is in whose session."""

    def __init__(self, table: Table) -> None:
        self._below: dict[int, list[int]] = {}
        self._sessions: dict[int, list[int]] = {}
        for pid, each in table.items():
            self._below.setdefault(each.parent, []).append(pid)
            self._sessions.setdefault(each.session, []).append(pid)
        self._table = table

    def tree(self, root: int) -> set[int]:
        """A process, those of its session, and all that they started."""
        found: set[int] = set()
        fresh = [root, *self._sessions.get(root, ())] if root in self._table else []
        while fresh:
            pid = fresh.pop()
            if pid not in found:
                found.add(pid)
                fresh += self._below.get(pid, ())
        return found


class _Sample(Struct, frozen=True):
    at: Moment
    seconds: Mapping[str, float]
    """Processor time by the run's id."""
    usage: Mapping[Request, PodUsage]
    node: NodeUsage | None
    total: float


class UsageSampler:
    """Measures what pods use, and ends containers that take more memory than they may."""

    def __init__(
        self,
        name: str,
        sandboxes: Callable[[], Iterable[Sandbox]],
        now: Callable[[], Moment],
        table: Callable[[], Table] = read_processes,
        *,
        whole: bool = True,
    ) -> None:
        """`whole` says that the node is all of this machine; else it is no more than its pods."""
        self._name, self._sandboxes, self._whole = name, sandboxes, whole
        self._now, self._table = now, table
        self._last: _Sample | None = None

    def pods(self, running: Sequence[MeasuredPod]) -> Mapping[Request, PodUsage]:
        return self._last.usage if self._last else {}

    def nodes(
        self, nodes: Sequence[MeasuredNode], running: Sequence[MeasuredPod]
    ) -> Mapping[str, NodeUsage]:
        """This machine; nothing before the second sample."""
        return {self._name: self._last.node} if self._last and self._last.node else {}

    async def run(self) -> None:
        """Measure until cancelled."""
        while True:
            self.sample()
            await asyncio.sleep(SAMPLE_SECONDS)

    def sample(self) -> None:
        """Measure once."""
        table, now, before = self._table(), self._now(), self._last
        forest, seconds = ProcessTrees(table), dict[str, float]()
        window = now.mono - before.at.mono if before else 0.0
        usage: dict[Request, PodUsage] = {}
        for sandbox in self._sandboxes():
            found: dict[str, ResourceUsage] = {}
            for name, run in sandbox.running.items():
                members = [table[pid] for pid in forest.tree(run.process.pid)]
                seconds[run.id] = sum(each.seconds for each in members)
                memory = sum(each.memory for each in members)
                if before and window and run.id in before.seconds:
                    spent = max(0.0, seconds[run.id] - before.seconds[run.id])
                    found[name] = ResourceUsage(spent / window, memory)
                if _exceeds_memory_limit(run.container, memory):
                    run.oom_kill()
            if found:
                usage[sandbox.pod.key] = PodUsage(found, now.wall, window)
        total = sum(each.seconds for each in table.values())
        node = self._node(table, total, now, window) if self._whole else _sum(usage, now, window)
        self._last = _Sample(now, seconds, usage, node, total)

    def _node(self, table: Table, total: float, now: Moment, window: float) -> NodeUsage | None:
        if self._last is None or not window:
            return None
        # Processes that ended meanwhile take their time with them.
        cores = max(0.0, total - self._last.total) / window
        memory = sum(each.memory for each in table.values())
        return NodeUsage(ResourceUsage(cores, memory), now.wall, window)


def _sum(usage: Mapping[Request, PodUsage], now: Moment, window: float) -> NodeUsage | None:
    """What a node uses that is no more than its pods; nothing before the second sample."""
    if not window:
        return None
    every = [each for pod in usage.values() for each in pod.containers.values()]
    cores, memory = sum(each.cores for each in every), sum(each.memory for each in every)
    return NodeUsage(ResourceUsage(cores, memory), now.wall, window)


def _exceeds_memory_limit(container: Container, memory: int) -> bool:
    limit = container.resources.limits.get("memory")
    return limit is not None and memory > parse_quantity(limit)


def _figures(stat: str) -> ProcStat:
    # The name of the program, in parentheses, may hold anything.
    fields = stat.rpartition(")")[2].split()
    spent = (int(fields[_USER]) + int(fields[_SYSTEM])) / _TICKS
    memory = int(fields[_RESIDENT]) * _PAGE
    return ProcStat(int(fields[_PARENT]), int(fields[_SESSION]), spent, memory)
