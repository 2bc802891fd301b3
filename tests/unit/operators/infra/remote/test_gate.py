"""A provider that does not answer is asked by one at a time; what comes back is seen by all."""

from __future__ import annotations

import asyncio

import pytest

from quintant.operators.infra.observe.answers import ErrorClass, Failure, ProviderError
from quintant.operators.infra.remote.gate import CAP_SECONDS, FIRST_SECONDS, Gate

LOST = Failure(ErrorClass.TRANSIENT, "ProviderUnreachable", "refused", applied=None)
BUSY = Failure(ErrorClass.BUSY, "Busy", "at work")


class Provider:
    def __init__(self) -> None:
        self.gate, self.asked, self.failure = Gate(2), 0, LOST

    async def ask(self, *, long: bool = False, seconds: float = 0.0) -> None:
        async with self.gate.passage(long=long):
            self.asked += 1
            await asyncio.sleep(seconds)
            if self.failure is not None:
                raise ProviderError(self.failure)


async def test_requests_to_a_lost_provider_are_bounded() -> None:
    provider = Provider()
    for _ in range(3600):
        with pytest.raises(ProviderError):
            await provider.ask()
        await asyncio.sleep(1)
    assert provider.asked <= 10 + 3600 / CAP_SECONDS


async def test_refusal_says_that_nothing_was_sent() -> None:
    provider = Provider()
    with pytest.raises(ProviderError) as first:
        await provider.ask()
    with pytest.raises(ProviderError) as second:
        await provider.ask()
    assert (first.value.failure.applied, second.value.failure.applied) == (None, False)
    assert provider.asked == 1


async def test_first_success_opens_it_for_all() -> None:
    provider = Provider()
    with pytest.raises(ProviderError):
        await provider.ask()
    provider.failure = None  # type: ignore[assignment]
    await asyncio.sleep(FIRST_SECONDS)
    await provider.ask()
    await asyncio.gather(*(provider.ask() for _ in range(20)))
    assert provider.asked == 22


async def test_answer_that_is_no_success_closes_nothing() -> None:
    provider = Provider()
    provider.failure = BUSY
    for _ in range(3):
        with pytest.raises(ProviderError):
            await provider.ask()
    assert provider.asked == 3


async def test_long_calls_keep_nobody_waiting() -> None:
    provider = Provider()
    provider.failure = None  # type: ignore[assignment]
    async with asyncio.TaskGroup() as group:
        for _ in range(10):
            group.create_task(provider.ask(long=True, seconds=3600))
        began = asyncio.get_running_loop().time()
        await provider.ask()
        assert asyncio.get_running_loop().time() == began
