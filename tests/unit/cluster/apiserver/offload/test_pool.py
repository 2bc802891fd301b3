"""Work beside the loop: what is done where, and what others get to do meanwhile."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Callable
from functools import partial

import pytest

from quintant.cluster.apiserver.golang.depth import make_room
from quintant.cluster.apiserver.offload.pool import (
    LARGE_BYTES,
    LIGHT_BYTES,
    LIGHT_COST,
    TURN_SECONDS,
    WAITING,
    Offload,
    inline_budget,
)
from quintant.cluster.apiserver.offload.timeouts import TooManyInFlight, in_time
from quintant.core.gc import NEVER

HERE = threading.main_thread()


def where() -> threading.Thread:
    return threading.current_thread()


async def test_small_work_is_done_at_once() -> None:
    offload = Offload()
    with offload.with_threads():
        assert await offload.run(where, LIGHT_BYTES) is HERE


async def test_large_work_is_done_in_a_thread_while_the_loop_goes_on() -> None:
    offload, started, others = Offload(), asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def work() -> threading.Thread:
        loop.call_soon_threadsafe(started.set)
        assert others.wait(10), "the loop did not go on"
        return where()

    with offload.with_threads():
        working = asyncio.ensure_future(offload.run(work, LIGHT_BYTES + 1))
        await started.wait()
        others.set()
        assert await working is not HERE


async def test_without_a_thread_everything_is_done_at_once() -> None:
    offload = Offload()
    assert await offload.run(where, 100 * LIGHT_BYTES) is HERE
    with offload.with_threads():
        pass
    assert await offload.run(where, 100 * LIGHT_BYTES) is HERE


async def test_what_turns_out_to_be_costly_is_begun_anew_in_the_thread() -> None:
    offload, tried = Offload(), []

    def work() -> threading.Thread:
        tried.append(where())
        hasty = inline_budget()
        if hasty is not None:
            hasty.spend(LIGHT_COST)
        return where()

    with offload.with_threads():
        assert await offload.run(work, 0) is tried[1]
    assert tried[0] is HERE
    assert await offload.run(work, 0) is HERE


async def test_each_piece_of_work_has_its_own_haste() -> None:
    offload = Offload()

    def work() -> threading.Thread:
        hasty = inline_budget()
        assert hasty is not None
        hasty.spend(LIGHT_COST - 1)
        return where()

    with offload.with_threads():
        assert {await offload.run(work, 0) for _ in range(3)} == {HERE}
    assert inline_budget() is None


async def test_large_documents_do_not_wait_for_huge_ones() -> None:
    offload, passed = Offload(), threading.Event()

    with offload.with_threads():
        huge = asyncio.ensure_future(offload.run(lambda: passed.wait(10), LARGE_BYTES + 1))
        await offload.run(passed.set, LARGE_BYTES)
        assert await huge, "the large one was done only after the huge one"


async def test_who_comes_when_too_many_wait_is_sent_away() -> None:
    offload, go = Offload(), threading.Event()
    with offload.with_threads():
        waiting = [
            asyncio.ensure_future(offload.run(go.wait, LARGE_BYTES + 1)) for _ in range(WAITING + 1)
        ]
        await asyncio.sleep(0)
        with pytest.raises(TooManyInFlight):
            await offload.run(where, LARGE_BYTES + 1)
        assert await offload.run(where, LARGE_BYTES) is not HERE
        go.set()
        assert all(await asyncio.gather(*waiting))
        assert await offload.run(where, LARGE_BYTES + 1) is not HERE


async def test_what_was_begun_is_finished_before_others_are_begun() -> None:
    offload, done = Offload(), list[str]()

    async def steps(name: str) -> None:
        for step in (1, 2):
            await offload.run(partial(done.append, f"{name}{step}"), LARGE_BYTES + 1)

    async def request(name: str, seconds: float) -> None:
        await in_time(steps(name), seconds)

    with offload.with_threads():
        await asyncio.gather(request("a", 10.0), request("c", 12.0), request("b", 11.0))
    assert done == ["a1", "a2", "b1", "b2", "c1", "c2"]


async def test_a_turn_that_is_given_up_goes_to_the_next() -> None:
    offload, go = Offload(), threading.Event()
    with offload.with_threads():
        busy = asyncio.ensure_future(offload.run(go.wait, LARGE_BYTES + 1))
        await asyncio.sleep(0)
        waiting = [asyncio.ensure_future(offload.run(where, LARGE_BYTES + 1)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        go.set()
        await busy
        waiting[1].cancel()
        assert await waiting[2] is not HERE


async def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    offload, go = Offload(), threading.Event()
    begun: list[int] = []
    with offload.with_threads():
        first = asyncio.ensure_future(offload.run(go.wait, LARGE_BYTES + 1))
        given_up = asyncio.ensure_future(offload.run(lambda: begun.append(1), LARGE_BYTES + 1))
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.wait([given_up])
        go.set()
        assert await first
        await offload.run(where, LARGE_BYTES + 1)
    assert not begun


async def test_threads_and_loop_take_short_turns_while_there_are_threads() -> None:
    usual = sys.getswitchinterval()
    with Offload().with_threads():
        assert sys.getswitchinterval() == pytest.approx(TURN_SECONDS)
    assert sys.getswitchinterval() == usual


async def test_no_full_search_for_garbage_holds_up_others_during_work() -> None:
    offload, usual = Offload(), gc.get_threshold()
    with offload.with_threads():
        assert await offload.run(gc.get_threshold, LIGHT_BYTES + 1) == (usual[0], NEVER, NEVER)
    assert gc.get_threshold() == usual


async def test_what_fails_in_the_thread_fails_here() -> None:
    def fail() -> None:
        raise LookupError("nowhere")

    offload = Offload()
    with offload.with_threads():
        for size in (0, LIGHT_BYTES + 1):
            with pytest.raises(LookupError, match="nowhere"):
                await offload.run(fail, size)


async def test_the_thread_has_room_for_deep_documents() -> None:
    def deep(levels: int) -> Callable[[], int]:
        # Through sorted(), so that every level takes some of the real stack.
        def down(level: int) -> int:
            return level if level == levels else sorted([level + 1], key=down)[0] and levels

        return lambda: down(0)

    make_room()
    offload = Offload()
    with offload.with_threads():
        assert await offload.run(deep(3_000), LIGHT_BYTES + 1) == 3_000
