"""Locks by key: one at a time for a key, keys beside each other, and nothing is left."""

from __future__ import annotations

import asyncio
import gc

from quintant import KeyLocks, Request

A, B = Request("a", "ns"), Request("b", "ns")


async def test_one_key_is_held_once_and_others_beside_it() -> None:
    locks, order = KeyLocks(), list[str]()

    async def hold(request: Request, name: str) -> None:
        async with locks.of(request):
            order.append(f"{name} in")
            await asyncio.sleep(1)
            order.append(f"{name} out")

    async with asyncio.TaskGroup() as group:
        group.create_task(hold(A, "first"))
        group.create_task(hold(A, "second"))
        group.create_task(hold(B, "other"))
    assert order == [
        "first in", "other in", "first out", "other out", "second in", "second out",
    ]  # fmt: skip


async def test_lock_is_forgotten_when_nothing_holds_it() -> None:
    locks = KeyLocks()
    async with locks.of(A):
        assert locks.of(A).locked()
    gc.collect()
    assert len(locks) == 0
