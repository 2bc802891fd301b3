from __future__ import annotations

import asyncio

import pytest

from quintant.agents.multiplex.duplex import DuplexStream, StreamReset
from quintant.agents.multiplex.stream import HIGH_BYTES
from quintant.wire.portal import Fault
from unit.agents.multiplex.ends import joined, pump


async def test_what_came_is_read_at_once_and_gives_credit_back() -> None:
    relay, tunnel = joined(window=100)
    flow = DuplexStream(relay.open().stream)
    pump(relay, tunnel)
    far = tunnel.ears[1].stream
    far.send(b"x" * 150)
    pump(relay, tunnel)
    assert await flow.read() == b"x" * 100
    far.finish()
    pump(relay, tunnel)
    assert await flow.read() == b"x" * 50
    assert await flow.read() == b""


async def test_a_writer_waits_while_there_is_no_room() -> None:
    relay, tunnel = joined(window=HIGH_BYTES * 4)
    flow = DuplexStream(relay.open().stream)
    async with asyncio.TaskGroup() as group:
        writing = group.create_task(flow.write(b"x" * HIGH_BYTES))
        await asyncio.sleep(1)
        assert not writing.done()
        pump(relay, tunnel)
    assert len(tunnel.ears[1].got) == HIGH_BYTES


async def test_a_reset_breaks_reader_and_writer() -> None:
    relay, tunnel = joined(window=10)
    flow = DuplexStream(relay.open().stream)
    pump(relay, tunnel)

    async def reads() -> None:
        with pytest.raises(StreamReset) as caught:
            await flow.read()
        assert caught.value.code == Fault.REFUSED

    async def writes() -> None:
        with pytest.raises(StreamReset):
            await flow.write(b"x" * HIGH_BYTES * 2)

    async with asyncio.TaskGroup() as group:
        group.create_task(reads())
        group.create_task(writes())
        await asyncio.sleep(1)
        tunnel.ears[1].stream.reset(Fault.REFUSED, "no")
        pump(relay, tunnel)
    assert not flow.quiet


async def test_who_closes_breaks_its_own_reader_too() -> None:
    relay, _ = joined()
    flow = DuplexStream(relay.open().stream)
    flow.close("enough")
    with pytest.raises(StreamReset, match="enough"):
        await flow.read()
