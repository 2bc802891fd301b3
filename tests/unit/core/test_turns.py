"""Much work lets others have their turns; little work does not."""

from __future__ import annotations

import asyncio

from quintant.core.turns import PIECES, in_turns


async def _turns(count: int) -> int:
    """How many turns others have while so many items are gone through."""
    others = 0

    async def other() -> None:
        nonlocal others
        while True:
            await asyncio.sleep(0)
            others += 1

    async with asyncio.TaskGroup() as group:
        task = group.create_task(other())
        await asyncio.sleep(0)
        before = others
        assert [item async for item in in_turns(iter(range(count)))] == list(range(count))
        had = others - before
        task.cancel()
    return had


async def test_a_thousand_items_leave_turns_to_others() -> None:
    assert await _turns(1000) >= 1000 // PIECES - 1


async def test_few_items_cost_no_turn() -> None:
    assert await _turns(PIECES) == 0
