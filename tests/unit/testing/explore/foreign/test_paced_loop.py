"""On a paced loop everything takes so much shorter, and the wall clock keeps step."""

from __future__ import annotations

import asyncio

import pytest

from quintant.testing.explore.foreign.paced_loop import PacedClock, PacedLoop, PaceOrigin


@pytest.mark.parametrize("pace", [1.0, 100.0])
def test_time_and_wall_clock_agree(pace: float) -> None:
    origin = PaceOrigin.now(pace)

    async def waited() -> tuple[float, float]:
        loop, clock = asyncio.get_running_loop(), PacedClock(origin)
        began, wall = loop.time(), clock.now()
        await asyncio.sleep(0.05 * pace)
        return loop.time() - began, (clock.now() - wall).total_seconds()

    with asyncio.Runner(loop_factory=lambda: PacedLoop(origin)) as runner:
        passed, by_the_wall = runner.run(waited())
    assert passed >= 0.05 * pace
    assert abs(passed - by_the_wall) < 0.05 * pace
