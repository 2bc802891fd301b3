"""A channel: keys from anywhere in the process reach the queue of its controller."""

from __future__ import annotations

import asyncio

import pytest

from quintant import Channel, ConfigError, Request
from quintant.core.clock import Random
from quintant.runtime.source.sources import SourceContext
from quintant.runtime.workqueue.workqueue import Workqueue
from quintant.testing import settle
from unit.runtime.controller.running_source import running, woken

A, B, C = Request("a", "ns"), Request("b", "ns"), Request("c", "ns")


async def test_keys_are_queued_in_their_order_and_urgent_ones_first() -> None:
    channel = Channel()
    async with running(channel) as queue:
        await settle()
        channel.add(A, B)
        channel.add_all(iter([C]), priority=100)
        assert await woken(queue) == [C, A, B]


async def test_channel_is_open_while_its_controller_runs() -> None:
    channel = Channel()
    states = [channel.open]
    async with running(channel):
        await settle()
        states.append(channel.open)
    states.append(channel.open)
    assert states == [False, True, False]


async def test_keys_are_dropped_while_no_controller_runs() -> None:
    channel, keys = Channel(), iter([A])
    channel.add(A)
    channel.add_all(keys)
    assert list(keys) == [A], "they are not even read"
    async with running(channel) as queue:
        assert await woken(queue) == []
    channel.add(B)
    async with running(channel) as queue:
        assert await woken(queue) == []


async def test_keys_are_kept_until_the_controller_runs_where_that_is_asked_for() -> None:
    channel = Channel(keep=True)
    channel.add(A, B)
    channel.add(C, priority=1)
    channel.add(A, priority=2)
    channel.add(A)
    async with running(channel) as queue:
        assert await woken(queue) == [A, C, B]
        channel.add(B)
        assert await woken(queue) == [B]
    channel.add(C)
    async with running(channel) as queue:
        assert await woken(queue) == [C]


async def test_channel_of_two_controllers_is_refused() -> None:
    channel = Channel()
    async with running(channel) as queue:
        await settle()
        with pytest.raises(ConfigError, match="two controllers"):
            await channel(SourceContext(Workqueue(), tuple, Random(1)))
        channel.add(A)
        assert await woken(queue) == [A]
    assert asyncio.all_tasks() == {asyncio.current_task()}
