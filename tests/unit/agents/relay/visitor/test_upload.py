from __future__ import annotations

import asyncio
from typing import cast

import pytest

from quintant.agents.multiplex.duplex import DuplexStream
from quintant.agents.relay.visitor.upload import FIRST_BYTES, KEPT_BYTES, Upload, UploadLimits
from quintant.agents.relay.visitor.visitor import Visitor
from quintant.http.connection import Disconnected
from quintant.http.framing import Framing, FramingKind
from quintant.http.head import ProtocolError


class Sender:
    """A visitor who sends in pieces, and then no more."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = [*pieces]

    async def read(self) -> bytes:
        if not self._pieces:
            await asyncio.get_running_loop().create_future()
        return self._pieces.pop(0)

    def unread(self, raw: bytes) -> None: ...


class Taker:
    """A stream that takes everything."""

    def __init__(self) -> None:
        self.got = b""

    async def write(self, raw: bytes) -> None:
        self.got += raw


def upload(size: int, *pieces: bytes) -> Upload:
    framing = Framing(FramingKind.LENGTH, size)
    return Upload(cast(Visitor, Sender(*pieces)), framing, UploadLimits())


@pytest.mark.parametrize("piece", [1000, KEPT_BYTES, KEPT_BYTES * 4])
async def test_what_came_before_there_was_a_stream_is_sent_first(piece: int) -> None:
    body = bytes(range(256)) * 2000
    found = upload(len(body), *(body[at : at + piece] for at in range(0, len(body), piece)))
    await found.begin()
    assert not found.begun
    taker = Taker()
    await found.run(cast(DuplexStream, taker))
    assert taker.got == body
    assert found.begun


async def test_what_is_kept_is_sent_again_whole() -> None:
    body = b"x" * 30_000
    found = upload(len(body), body[:20_000], body[20_000:])
    await found.begin()
    for _ in range(2):
        taker = Taker()
        await found.run(cast(DuplexStream, taker))
        assert taker.got == body
    assert found.repeatable


async def test_a_body_that_is_only_begun_is_waited_for_and_then_refused() -> None:
    found = upload(1_000_000, b"x" * (FIRST_BYTES - 1))
    with pytest.raises(ProtocolError, match="too slowly"):
        await found.begin()
    with pytest.raises(Disconnected):
        await upload(100, b"").begin()


async def test_a_small_body_is_here_before_it_gets_a_stream() -> None:
    found = upload(10, b"12345", b"67890")
    await found.begin()
    assert found.done
