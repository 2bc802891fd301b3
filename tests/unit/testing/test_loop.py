"""The virtual loop: time jumps, order holds, and a dead end is named."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise

import pytest

from quintant.testing.loop import LoopStuck, VirtualLoop, advance, run, settle

DAY = 86_400.0
CENTURY = 36_525 * DAY


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_unit_tests_run_on_the_virtual_loop_from_zero() -> None:
    assert isinstance(asyncio.get_running_loop(), VirtualLoop)
    assert now() == 0.0


@pytest.mark.realtime
async def test_a_test_marked_realtime_runs_on_the_ordinary_loop() -> None:
    assert not isinstance(asyncio.get_running_loop(), VirtualLoop)


async def test_a_century_passes_at_once_and_ends_on_the_exact_second() -> None:
    await advance(CENTURY)  # one that waited would be noticed
    await advance(0.1)
    assert now() == CENTURY + 0.1


async def test_timers_fire_in_order_each_seeing_its_own_moment() -> None:
    loop = asyncio.get_running_loop()
    seen: list[tuple[str, float]] = []

    def note(name: str) -> None:
        seen.append((name, loop.time()))

    for name, when in (("late", 10.3), ("first", 0.1), ("second", 0.1 + 1e-12), ("third", 0.3)):
        loop.call_at(when, note, name)
    await advance(11)
    assert seen == [("first", 0.1), ("second", 0.1 + 1e-12), ("third", 0.3), ("late", 10.3)]


async def test_a_timer_in_the_past_fires_now_and_time_never_goes_back() -> None:
    await advance(5)
    fired = asyncio.Event()
    asyncio.get_running_loop().call_at(1.0, fired.set)
    await fired.wait()
    assert now() == 5.0


async def test_a_cancelled_timer_moves_no_time() -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.call_later(1, lambda: None).cancel()
    loop.call_later(3, lambda: None)
    assert loop.timers() == 1
    await asyncio.sleep(2)
    assert loop.time() == 2.0
    await asyncio.sleep(2)
    assert loop.timers() == 0


async def test_timeout_ends_a_wait_at_its_deadline() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(30):
            await asyncio.Event().wait()
    assert now() == 30.0


async def test_timeout_that_is_not_needed_costs_no_time() -> None:
    async with asyncio.timeout(30):
        await asyncio.sleep(1)
    assert now() == 1.0


async def test_settle_runs_everything_ready_and_moves_no_time() -> None:
    seen: list[int] = []

    async def chain(depth: int) -> None:
        for step in range(depth):
            await asyncio.sleep(0)
            seen.append(step)
        await asyncio.sleep(1)
        seen.append(-1)

    async with asyncio.TaskGroup() as group:
        group.create_task(chain(50))
        await settle()
        assert seen == list(range(50))
        assert now() == 0.0
    assert now() == 1.0


async def test_settle_says_so_when_callbacks_feed_each_other_for_ever() -> None:
    loop = asyncio.get_running_loop()
    alive = True

    def spin() -> None:
        if alive:
            loop.call_soon(spin)

    spin()
    with pytest.raises(LoopStuck, match="still ready"):
        await settle()
    alive = False


@pytest.mark.realtime
async def test_settle_refuses_an_ordinary_loop() -> None:
    with pytest.raises(RuntimeError, match="needs a VirtualLoop"):
        await settle()


async def test_time_stands_still_while_a_thread_works() -> None:
    gate = threading.Event()
    loop = asyncio.get_running_loop()
    loop.call_later(DAY, lambda: None)
    loop.call_soon(gate.set)
    assert await loop.run_in_executor(None, gate.wait, 10)
    assert loop.time() == 0.0
    await advance(1)
    assert loop.time() == 1.0


def test_a_deadline_passes_even_though_a_thread_hangs() -> None:
    gate = threading.Event()

    async def main(pool: ThreadPoolExecutor) -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30):
                await asyncio.get_running_loop().run_in_executor(pool, gate.wait, 10)
        gate.set()
        return now()

    with (
        ThreadPoolExecutor(1) as pool,
        asyncio.Runner(loop_factory=lambda: VirtualLoop(patience=0.01)) as runner,
    ):
        assert runner.run(main(pool)) == 30.0


def test_a_thread_that_works_is_waited_for_however_slow_the_machine_is() -> None:
    slow = threading.Event()

    async def main(pool: ThreadPoolExecutor) -> bool:
        return await asyncio.get_running_loop().run_in_executor(pool, slow.wait, 0.1)

    with (
        ThreadPoolExecutor(1) as pool,
        asyncio.Runner(loop_factory=lambda: VirtualLoop(patience=0.0)) as runner,
    ):
        assert runner.run(main(pool)) is False


async def test_a_foreign_thread_wakes_a_loop_that_has_nothing_else_to_do() -> None:
    loop = asyncio.get_running_loop()
    woken = asyncio.Event()
    thread = threading.Thread(target=loop.call_soon_threadsafe, args=(woken.set,))
    loop.call_soon(thread.start)
    await woken.wait()
    thread.join()
    assert loop.time() == 0.0


async def test_real_sockets_work_without_moving_time() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"hello\n")
        assert await reader.readline() == b"hello\n"
        writer.close()
        await writer.wait_closed()
    assert now() == 0.0


def test_a_dead_end_is_named_with_every_waiting_task_and_its_place() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(forever(), name="worker-1")

    with (
        asyncio.Runner(loop_factory=lambda: VirtualLoop(patience=0.0)) as runner,
        pytest.raises(LoopStuck, match="nothing left to happen") as stuck,
    ):
        runner.run(main())
    assert "worker-1" in str(stuck.value)
    assert "forever() running at" in str(stuck.value)
    assert "test_loop.py:" in str(stuck.value)


def test_run_returns_what_the_coroutine_returns() -> None:
    async def main() -> float:
        await advance(7)
        return now()

    assert run(main()) == 7.0


def test_two_runs_see_the_same_history() -> None:
    async def main() -> list[tuple[int, float]]:
        seen: list[tuple[int, float]] = []

        async def walker(number: int) -> None:
            for _ in range(5):
                await asyncio.sleep(0.1 * number)
                seen.append((number, now()))

        async with asyncio.TaskGroup() as group:
            for number in range(1, 6):
                group.create_task(walker(number))
        return seen

    assert run(main()) == run(main())


def _order(seed: int) -> list[int]:
    """The order in which tasks that became ready at one moment have run."""
    seen: list[int] = []

    async def note(number: int) -> None:
        await asyncio.sleep(1)
        seen.append(number)

    async def main() -> None:
        await asyncio.gather(*map(note, range(8)))

    run(main(), seed=seed)
    return seen


def test_a_seed_is_an_order_of_what_is_ready_together() -> None:
    assert _order(0) == _order(0)
    assert sorted(_order(5)) == list(range(8))
    assert _order(5) == _order(5)
    assert len({tuple(_order(seed)) for seed in range(20)}) > 10


def test_callbacks_keep_their_order_whatever_the_seed() -> None:
    seen: list[int] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for number in range(8):
            loop.call_soon(seen.append, number)
        await asyncio.sleep(1)

    for seed in range(20):
        seen.clear()
        run(main(), seed=seed)
        assert seen == list(range(8))


async def test_a_group_ends_its_tasks_in_an_order_that_no_address_decides() -> None:
    ended: list[int] = []

    async def wait(number: int) -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            ended.append(number)

    with suppress(asyncio.CancelledError):
        async with asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(wait(number))
            await asyncio.sleep(1)
            raise asyncio.CancelledError
    assert sorted(ended) == list(range(8))
    tasks = [asyncio.ensure_future(asyncio.sleep(0)) for _ in range(3)]
    assert [hash(after) - hash(before) for before, after in pairwise(tasks)] == [1, 1]
    await asyncio.gather(*tasks)
