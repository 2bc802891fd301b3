from __future__ import annotations

import asyncio

from quintant.agents.relay.visitor.visitor_queue import LOOK_SECONDS, QueueLimits, VisitorQueue


class Room:
    """Streams, of which so many are free."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.served: list[int] = []

    def take(self) -> bool:
        if self.free:
            self.free -= 1
            return True
        return False


async def test_whoever_fits_does_not_wait() -> None:
    queue, began = VisitorQueue(QueueLimits()), asyncio.get_running_loop().time()
    assert await queue.admitted("app", lambda: True)
    assert asyncio.get_running_loop().time() == began


async def test_who_waits_is_next_when_somebody_leaves() -> None:
    queue, room = VisitorQueue(QueueLimits(seconds=60)), Room(0)
    waiting = asyncio.get_running_loop().create_task(queue.admitted("app", room.take))
    await asyncio.sleep(1)
    assert (waiting.done(), queue.size) == (False, 1)
    room.free = 1
    queue.left("app")
    assert await waiting
    assert queue.size == 0


async def test_nobody_waits_longer_than_the_limit() -> None:
    queue, loop = VisitorQueue(QueueLimits(seconds=5)), asyncio.get_running_loop()
    began = loop.time()
    assert not await queue.admitted("app", lambda: False)
    assert 5 <= loop.time() - began < 6
    assert queue.size == 0


async def test_no_more_wait_than_there_is_room_for() -> None:
    queue, loop = VisitorQueue(QueueLimits(most=2, seconds=5)), asyncio.get_running_loop()
    waiting = [loop.create_task(queue.admitted("app", lambda: False)) for _ in range(2)]
    await asyncio.sleep(1)
    began = loop.time()
    assert not await queue.admitted("app", lambda: False)
    assert loop.time() == began
    assert await asyncio.gather(*waiting) == [False, False]


async def test_who_cannot_use_what_is_free_keeps_nobody_from_it() -> None:
    queue, room = VisitorQueue(QueueLimits(seconds=10)), Room(0)
    stuck = asyncio.get_running_loop().create_task(queue.admitted("app", lambda: False))
    other = asyncio.get_running_loop().create_task(queue.admitted("app", room.take))
    await asyncio.sleep(1)
    room.free = 1
    queue.left("app")
    await asyncio.sleep(LOOK_SECONDS * 2)
    assert (stuck.done(), other.done()) == (False, True)
    assert not await stuck


async def test_a_burst_is_served_in_turns_and_nobody_is_refused() -> None:
    queue, room = VisitorQueue(QueueLimits(most=1000, seconds=30)), Room(10)

    async def visit() -> bool:
        found = await queue.admitted("app", room.take)
        if found:
            await asyncio.sleep(0.1)
            room.free += 1
            queue.left("app")
        return found

    assert all(await asyncio.gather(*(visit() for _ in range(1000))))


async def test_apps_do_not_wait_for_each_other() -> None:
    queue = VisitorQueue(QueueLimits(seconds=5))
    waiting = asyncio.get_running_loop().create_task(queue.admitted("full", lambda: False))
    await asyncio.sleep(1)
    assert await queue.admitted("other", lambda: True)
    assert not await waiting
