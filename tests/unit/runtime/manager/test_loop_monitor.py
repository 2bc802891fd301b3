"""A thread sees what runs while the loop does not beat."""

from __future__ import annotations

import asyncio
import threading

import pytest

from quintant.core.object import Request
from quintant.runtime.controller.blocking_keys import RunningReconcile
from quintant.runtime.manager.loop_monitor import (
    TICK_SECONDS,
    BlockedSample,
    LoopMonitor,
    SchedulerWait,
)

pytestmark = pytest.mark.realtime


def called_by_name(task: asyncio.Task[None]) -> RunningReconcile:
    return RunningReconcile("portal", Request(task.get_name(), "shop"))


async def test_what_runs_while_the_loop_is_blocked_is_seen_once() -> None:
    named = threading.Event()

    def name(task: asyncio.Task[None]) -> RunningReconcile:
        named.set()
        return called_by_name(task)

    monitor = LoopMonitor(name)

    async def block() -> BlockedSample | None:
        # Blocks until it was seen twice, so that the sample is complete.
        for _ in range(2):
            named.clear()
            assert named.wait(60)
        return monitor.beat()

    with monitor.watch():
        sample = await asyncio.create_task(block(), name="block")
    assert sample is not None
    assert sample.running == "portal shop/block"
    assert "named.wait(60)" in sample.stack
    assert monitor.beat() is None


async def test_task_that_nobody_knows_is_called_by_its_own_name() -> None:
    looked = threading.Event()

    def unknown(task: asyncio.Task[None]) -> None:
        looked.set()

    monitor = LoopMonitor(unknown)

    async def block() -> BlockedSample | None:
        for _ in range(2):
            looked.clear()
            assert looked.wait(60)
        return monitor.beat()

    with monitor.watch():
        sample = await asyncio.create_task(block(), name="poller")
    assert sample is not None
    assert sample.running == "task poller"


async def test_time_is_counted_for_the_one_reconcile_that_was_seen_all_along() -> None:
    names = iter(["a", "a", "b", "b", "b"])
    monitor = LoopMonitor(lambda task: RunningReconcile("portal", Request(next(names), "shop")))
    for _ in range(7):
        monitor.tick(asyncio.get_running_loop(), threading.get_ident())
    sample = monitor.beat()
    assert sample is not None
    assert sample.running == "portal shop/b"
    assert sample.seconds == 2 * TICK_SECONDS


def test_time_without_a_processor_only_grows() -> None:
    waited = SchedulerWait()
    assert waited() >= 0.0
    assert waited() >= 0.0
