"""Promises of quintant.cluster.controllers.daemonset.backoff."""

from __future__ import annotations

import asyncio

from quintant.cluster.controllers.daemonset.backoff import FailedPodsBackoff
from quintant.core.object import Request

KEY = Request("a", "n")


async def test_patience_doubles_with_each_failure() -> None:
    backoff, waits = FailedPodsBackoff(), []
    for _ in range(12):
        backoff.record_failure(KEY, "x")
        waits.append(backoff.seconds_left(KEY, "x"))
        await asyncio.sleep(waits[-1])
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]


async def test_nodes_do_not_pay_for_each_other() -> None:
    backoff = FailedPodsBackoff()
    backoff.record_failure(KEY, "x")
    assert backoff.seconds_left(KEY, "y") == 0
    assert backoff.seconds_left(Request("b", "n"), "x") == 0


async def test_long_ago_is_forgiven_and_gone_is_forgotten() -> None:
    backoff = FailedPodsBackoff()
    for _ in range(5):
        backoff.record_failure(KEY, "x")
    await asyncio.sleep(3600)
    backoff.record_failure(KEY, "x")
    assert backoff.seconds_left(KEY, "x") == 1
    backoff.forget(KEY)
    assert backoff.seconds_left(KEY, "x") == 0
