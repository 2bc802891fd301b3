"""A key that holds up the whole process has to wait, and says so; the others go on."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from itertools import pairwise

from structlog.testing import capture_logs

from quintant import Context, Manager, Request
from quintant.api.core import ConfigMap
from quintant.api.events import Event
from quintant.runtime.controller.blocking_keys import (
    FORGOTTEN_SECONDS,
    HELD_SECONDS,
    MOST_BLOCKS,
    BlockingKeys,
)
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.loop_monitor import TICK_SECONDS
from quintant.testing import InProcessCluster, named
from quintant.testing.loop import VirtualLoop

KEY, OTHER = Request("a", "shop"), Request("b", "shop")
HOUR = 3600.0


class Blockable(VirtualLoop):
    """A virtual loop that can be held up, as a blocking call holds up a real one."""

    def block(self, seconds: float) -> None:
        self._jump(self.time() + seconds)


class Greedy:
    """A reconciler that takes the loop for itself at objects that say for how long."""

    def __init__(self) -> None:
        self.engine: Engine | None = None
        self.runs: list[tuple[str, float]] = []

    async def __call__(self, config: ConfigMap, ctx: Context[ConfigMap]) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Blockable)
        assert self.engine is not None
        self.runs.append((config.metadata.name, loop.time()))
        seconds = float(config.data.get("seconds", "0"))
        for _ in range(int(seconds / TICK_SECONDS)):
            self.engine.monitor.tick(loop, threading.get_ident())
        loop.block(seconds)
        if seconds:
            raise ValueError("it was all for nothing")

    def times(self, name: str) -> list[float]:
        return [at for run, at in self.runs if run == name]


async def scene(cluster: InProcessCluster, greedy: Greedy, hours: float) -> None:
    manager = Manager("test")
    manager.controls(ConfigMap, name="greedy").reconcile(greedy)
    engine = greedy.engine = await cluster.run(manager)
    beats = asyncio.create_task(engine.watchdog.run())
    await cluster.advance(1)
    await cluster.create(ConfigMap(metadata=named("a"), data={"seconds": "6"}))
    await cluster.advance(hours * HOUR)
    await cluster.create(ConfigMap(metadata=named("b")))
    await cluster.advance(1)
    beats.cancel()
    with suppress(asyncio.CancelledError):
        await beats


def play(hours: float) -> tuple[Greedy, list[Event], list[str]]:
    async def main() -> tuple[Greedy, list[Event]]:
        greedy, cluster = Greedy(), InProcessCluster()
        await scene(cluster, greedy, hours)
        events = list(await cluster.client.list(Event))
        await cluster.close()
        return greedy, events

    with capture_logs() as lines, asyncio.Runner(loop_factory=Blockable) as runner:
        greedy, events = runner.run(main())
    told = [str(line["object"]) for line in lines if "once an hour" in line["event"]]
    return greedy, events, told


def test_key_that_blocked_the_loop_three_times_is_tried_once_an_hour() -> None:
    greedy, _, told = play(hours=2.5)
    times = greedy.times("a")
    assert len(times) == MOST_BLOCKS + 2
    assert all(b - a >= HOUR for a, b in pairwise(times[2:]))
    assert set(told) == {"default/a"}


def test_object_that_blocks_the_loop_says_so_in_an_event() -> None:
    _, events, _ = play(hours=0.5)
    (event,) = [event for event in events if event.reason == "BlocksEventLoop"]
    assert event.type == "Warning"
    assert event.regarding.name == "a"
    assert "once an hour" in event.note


def test_others_are_reconciled_while_a_key_has_to_wait() -> None:
    greedy, _, _ = play(hours=0.5)
    assert len(greedy.times("a")) == MOST_BLOCKS
    assert len(greedy.times("b")) == 1


def test_key_that_blocked_less_often_need_not_wait() -> None:
    keys = BlockingKeys()
    for now in range(MOST_BLOCKS - 1):
        keys.count(KEY, now)
        assert keys.wait(KEY, now) == 0


def test_key_has_to_wait_an_hour_from_its_last_block_and_others_do_not() -> None:
    keys = BlockingKeys()
    for _ in range(MOST_BLOCKS):
        keys.count(KEY, 10.0)
    assert keys.wait(KEY, 10.0) == HELD_SECONDS
    assert keys.wait(KEY, 10.0 + HELD_SECONDS) == 0
    assert keys.wait(OTHER, 10.0) == 0


def test_one_more_block_after_the_hour_is_one_too_many() -> None:
    keys = BlockingKeys()
    for now in (0.0, 1.0, 2.0, HELD_SECONDS + 2.0):
        keys.count(KEY, now)
    assert keys.wait(KEY, HELD_SECONDS + 2.0) == HELD_SECONDS


def test_blocks_are_forgotten_once_a_try_did_well() -> None:
    keys = BlockingKeys()
    for _ in range(MOST_BLOCKS):
        keys.count(KEY, 0.0)
    assert keys.count(KEY, FORGOTTEN_SECONDS + 1) == 1
