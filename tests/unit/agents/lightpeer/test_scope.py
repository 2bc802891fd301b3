"""Work that was begun is completed whoever gives up, and ends with its owner."""

from __future__ import annotations

import asyncio
import logging

import pytest

from quintant.agents.lightpeer.scope import Scope


async def test_work_goes_on_when_its_caller_gives_up() -> None:
    scope, done = Scope(), []

    async def work() -> None:
        await asyncio.sleep(1)
        done.append(True)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await scope.finish(work())
    await asyncio.sleep(1)
    assert done == [True]


async def test_failure_reaches_the_caller() -> None:
    async def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await Scope().finish(work())


async def test_failure_that_nobody_awaits_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        raise ValueError("no")

    with caplog.at_level(logging.ERROR):
        Scope().start(work())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert "ValueError: no" in caplog.text


async def test_closing_ends_everything() -> None:
    scope = Scope()
    task = scope.start(asyncio.sleep(3600))
    await scope.close()
    assert task.cancelled()
