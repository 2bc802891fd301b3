"""Figures of processes: a program, and all that it started."""

from __future__ import annotations

import asyncio
import os

from quintant.cluster.apiserver.kubelet_client.meter import ResourceUsage
from quintant.cluster.kubelet.process.orphans import is_alive, process_mark
from quintant.cluster.kubelet.process.proc_stats import (
    ProcessTrees,
    ProcStat,
    UsageSampler,
    read_processes,
)
from unit.cluster.kubelet.world import World, container


def figures(parent: int, session: int = 0) -> ProcStat:
    return ProcStat(parent, session, 1.0, 100)


def test_a_tree_is_a_program_its_session_and_all_they_started() -> None:
    table = {
        1: figures(0),
        10: figures(1, 10),
        11: figures(10, 10),
        12: figures(1, 10),
        13: figures(12, 13),
        20: figures(1, 20),
    }
    assert ProcessTrees(table).tree(10) == {10, 11, 12, 13}
    assert ProcessTrees(table).tree(99) == set()


def test_this_process_is_on_the_list_with_its_figures() -> None:
    mine = read_processes()[os.getpid()]
    assert mine.memory > 1_000_000
    assert mine.seconds > 0
    assert mine.parent == os.getppid()


def test_a_mark_is_alive_as_long_as_its_process() -> None:
    assert is_alive(process_mark())
    assert is_alive(f"{process_mark()}-anything")
    pid = os.getpid()
    assert not is_alive(f"{pid}-1"), "another process had this number"
    assert not is_alive("999999999-1")
    assert not is_alive("nonsense")


async def test_a_node_that_is_no_more_than_its_pods_uses_what_they_use(world: World) -> None:
    await world.run("a", container("one"), container("two"))
    pids = [process.pid for process in world.processes.started]
    table = {pid: ProcStat(1, pid, 0.0, 100) for pid in pids} | {1: ProcStat(0, 1, 9.0, 10**9)}
    node = world.node
    sampler = UsageSampler("paris", world.kubelet.sandboxes, node.now, lambda: table, whole=False)
    sampler.sample()
    await asyncio.sleep(2)
    sampler.sample()
    assert sampler.nodes((), ())["paris"].usage == ResourceUsage(0.0, 200)
