"""A provider that does not answer is asked by one at a time; what comes back is seen by all."""

from __future__ import annotations

import asyncio

import pytest

from quintant.operators.infra.observed.answers import (
    CLOUD_UNREACHABLE,
    ErrorClass,
    Failure,
    ProviderError,
)
from quintant.operators.infra.remote.gate import CAP_SECONDS, FIRST_SECONDS, Gate, Lane

LOST = Failure(ErrorClass.TRANSIENT, "ProviderUnreachable", "refused", applied=None)
BUSY = Failure(ErrorClass.BUSY, "Busy", "at work")


class Provider:
    def __init__(self, limit: int = 2) -> None:
        self.gate, self.asked, self.failure = Gate(limit), 0, LOST
        self.under_way = self.most = 0

    async def ask(self, lane: Lane = Lane.COMMON, *, seconds: float = 0.0) -> None:
        async with self.gate.passage(lane):
            self.asked += 1
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            await asyncio.sleep(seconds)
            self.under_way -= 1
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
            group.create_task(provider.ask(Lane.LONG, seconds=3600))
        began = asyncio.get_running_loop().time()
        await provider.ask()
        assert asyncio.get_running_loop().time() == began


async def worker(provider: Provider, lane: Lane, times: int) -> float:
    """Ask a second of work of a provider again and again; seconds that it took."""
    began = asyncio.get_running_loop().time()
    for _ in range(times):
        await provider.ask(lane, seconds=1.0)
    return asyncio.get_running_loop().time() - began


@pytest.mark.parametrize("limit", [2, 4, 8, 20])
async def test_deletion_is_as_fast_beside_many_creations_as_alone(limit: int) -> None:
    provider = Provider(limit)
    provider.failure = None  # type: ignore[assignment]
    async with asyncio.TaskGroup() as group:
        for _ in range(60):
            group.create_task(worker(provider, Lane.COMMON, 10))
            group.create_task(worker(provider, Lane.DRY_RUN, 10))
        await asyncio.sleep(0.5)
        assert await worker(provider, Lane.DELETION, 5) == 5.0
    assert provider.most <= limit


async def test_dry_runs_leave_places_to_looks() -> None:
    provider = Provider(8)
    provider.failure = None  # type: ignore[assignment]
    async with asyncio.TaskGroup() as group:
        for _ in range(60):
            group.create_task(worker(provider, Lane.DRY_RUN, 10))
        await asyncio.sleep(0.5)
        assert await worker(provider, Lane.COMMON, 5) == 5.0
    assert provider.most <= 8


@pytest.mark.parametrize("limit", [1, 3, 8])
async def test_no_more_is_asked_at_once_than_a_provider_may_be(limit: int) -> None:
    provider = Provider(limit)
    provider.failure = None  # type: ignore[assignment]
    async with asyncio.TaskGroup() as group:
        for lane in (Lane.COMMON, Lane.DRY_RUN, Lane.DELETION):
            for _ in range(30):
                group.create_task(worker(provider, lane, 3))
    assert provider.most <= limit


async def test_cloud_out_of_reach_keeps_nobody_from_the_provider() -> None:
    provider = Provider()
    provider.failure = Failure(ErrorClass.TRANSIENT, CLOUD_UNREACHABLE, "refused")
    for _ in range(3):
        with pytest.raises(ProviderError):
            await provider.ask()
    assert provider.asked == 3
