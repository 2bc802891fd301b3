"""Deadlines that follow the machine's speed."""

from __future__ import annotations

import asyncio
import math

import pytest

import patience


async def test_what_hangs_is_ended() -> None:
    with pytest.raises(TimeoutError):
        async with patience.within(0.01):
            await asyncio.sleep(math.inf)


async def test_what_is_done_in_time_goes_on() -> None:
    async with patience.within(20):
        await asyncio.sleep(0)


def test_nobody_waits_less_than_on_a_quiet_machine() -> None:
    assert 3.0 <= patience.seconds(3.0) <= 3.0 * patience.MOST
