from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress

from structlog.testing import capture_logs

from quintant.core.object import Request
from quintant.runtime.controller.blocking_keys import RunningReconcile
from quintant.runtime.manager.loop_monitor import BlockedSample
from quintant.runtime.manager.watchdog import BEAT_SECONDS, MEMORY_SECONDS, REPEAT_SECONDS, Watchdog
from quintant.runtime.observe.metrics import Metrics
from quintant.testing.loop import VirtualLoop, advance

RECONCILE = RunningReconcile("portal", Request("web", "shop"))
Scene = Callable[["Stage"], Coroutine[None, None, None]]


class Blockable(VirtualLoop):
    """A virtual loop that can be held up, as a blocking call holds up a real one."""

    def block(self, seconds: float) -> None:
        self._jump(self.time() + seconds)


class Stage:
    """A watchdog at work, and what it sees."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.seen = True
        """Whether the monitor saw what ran while the loop was late."""
        self.busy = ""
        self.starved = 0.0
        self.observed = float("inf")
        """For how long the monitor saw nothing else run."""
        self.blamed: list[RunningReconcile] = []
        self.watchdog = Watchdog(self.metrics, self._beat, lambda: self.starved, self.blamed.append)

    def _beat(self) -> BlockedSample | None:
        if not self.seen:
            return None
        return BlockedSample(self.busy, "a stack", RECONCILE, self.observed)

    def block(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Blockable)
        loop.block(seconds)

    @property
    def gauge(self) -> float | None:
        return self.metrics.registry.value("quintant_loop_lag_seconds")

    async def play(self, scene: Scene) -> None:
        task = asyncio.create_task(self.watchdog.run())
        await advance(BEAT_SECONDS / 2)
        await scene(self)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def play(scene: Scene) -> list[str]:
    """The log lines that a scene leaves behind."""
    with capture_logs() as lines, asyncio.Runner(loop_factory=Blockable) as runner:
        runner.run(Stage().play(scene))
    return [f"{line['event']} {line['seconds']:g} {line['running']}" for line in lines]


def test_loop_that_keeps_time_is_not_mentioned() -> None:
    async def scene(stage: Stage) -> None:
        stage.busy = "portal shop/web"
        await advance(3600)
        assert stage.watchdog.lag == 0
        assert stage.gauge == 0

    assert play(scene) == []


def test_blocked_loop_is_logged_with_what_was_running() -> None:
    async def scene(stage: Stage) -> None:
        stage.busy = "portal shop/web"
        stage.block(1.0)
        await advance(1)
        assert stage.gauge == 0.875

    assert play(scene) == ["event loop was blocked 0.875 portal shop/web"]


def test_block_outside_of_any_reconcile_is_logged_as_such() -> None:
    async def scene(stage: Stage) -> None:
        stage.block(1.0)
        await advance(1)

    assert play(scene) == ["event loop was blocked 0.875 no task"]


def test_lag_below_half_a_second_is_measured_and_not_logged() -> None:
    async def scene(stage: Stage) -> None:
        stage.block(BEAT_SECONDS / 2 + 0.4)
        await advance(BEAT_SECONDS)
        assert 0.39 < stage.watchdog.lag < 0.41

    assert play(scene) == []


def test_time_in_which_the_machine_ran_others_is_not_blamed_on_anybody() -> None:
    async def scene(stage: Stage) -> None:
        stage.busy, stage.starved = "portal shop/web", 0.9
        stage.block(1.0)
        await advance(BEAT_SECONDS)
        assert stage.watchdog.lag < 0.1

    assert play(scene) == []


def test_lag_that_no_single_step_caused_is_measured_and_not_blamed_on_anybody() -> None:
    async def scene(stage: Stage) -> None:
        stage.busy, stage.seen = "portal shop/web", False
        stage.block(1.0)
        await advance(BEAT_SECONDS)
        assert stage.watchdog.lag > 0.8

    assert play(scene) == []


def test_same_culprit_is_named_once_a_minute() -> None:
    async def scene(stage: Stage) -> None:
        stage.busy = "portal shop/web"
        for _ in range(5):
            stage.block(1.0)
            await advance(1)
        await advance(REPEAT_SECONDS)
        stage.block(1.0)
        await advance(1)

    assert len(play(scene)) == 2


def test_next_culprit_is_named_at_once() -> None:
    async def scene(stage: Stage) -> None:
        for name in ("portal shop/web", "klight shop/peer"):
            stage.busy = name
            stage.block(1.0)
            await advance(1)

    assert [line.split()[-1] for line in play(scene)] == ["shop/web", "shop/peer"]


def test_lag_is_seen_before_the_beat_that_reports_it() -> None:
    async def scene(stage: Stage) -> None:
        stage.block(12.0)
        assert stage.watchdog.lag > 11

    play(scene)


def test_worst_lag_is_remembered_until_a_probe_has_come_by() -> None:
    async def scene(stage: Stage) -> None:
        stage.block(12.0)
        await advance(1)
        stage.block(1.0)
        await advance(MEMORY_SECONDS - 3)
        assert stage.watchdog.lag > 11
        await advance(4)
        assert stage.watchdog.lag == 0

    play(scene)


def test_watchdog_that_has_not_started_reports_no_lag() -> None:
    async def scene() -> float:
        await advance(100)
        return Stage().watchdog.lag

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        assert runner.run(scene()) == 0


def test_reconcile_is_blamed_for_a_block_of_more_than_five_seconds() -> None:
    async def scene(stage: Stage) -> None:
        stage.block(4.0)
        await advance(1)
        assert stage.blamed == []
        stage.block(6.0)
        await advance(1)
        assert stage.blamed == [RECONCILE]

    play(scene)


def test_reconcile_is_not_blamed_for_what_others_and_the_machine_took() -> None:
    async def scene(stage: Stage) -> None:
        stage.observed = 1.0
        stage.block(8.0)
        await advance(1)
        stage.observed, stage.starved = 8.0, 4.0
        stage.block(8.0)
        await advance(1)
        assert stage.blamed == []

    play(scene)
