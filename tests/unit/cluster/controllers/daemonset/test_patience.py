"""Promises of quintant.cluster.controllers.daemonset.patience."""

from __future__ import annotations

import asyncio

from quintant.cluster.controllers.daemonset.patience import Patience
from quintant.core.object import Request

KEY = Request("a", "n")


async def test_patience_doubles_with_each_failure() -> None:
    patience, waits = Patience(), []
    for _ in range(12):
        patience.lose(KEY, "x")
        waits.append(patience.left(KEY, "x"))
        await asyncio.sleep(waits[-1])
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]


async def test_nodes_do_not_pay_for_each_other() -> None:
    patience = Patience()
    patience.lose(KEY, "x")
    assert patience.left(KEY, "y") == 0
    assert patience.left(Request("b", "n"), "x") == 0


async def test_long_ago_is_forgiven_and_gone_is_forgotten() -> None:
    patience = Patience()
    for _ in range(5):
        patience.lose(KEY, "x")
    await asyncio.sleep(3600)
    patience.lose(KEY, "x")
    assert patience.left(KEY, "x") == 1
    patience.forget(KEY)
    assert patience.left(KEY, "x") == 0
