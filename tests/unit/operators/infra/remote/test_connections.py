"""The real outside: what a provider may send, over a connection of its own."""

from __future__ import annotations

import asyncio

import pytest

from quintant.keys.sensitive import Sensitive
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observed.answers import ErrorClass, ProviderError
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.remote.connections import ANSWER_BYTES, ImProviders

HUGE = 100_000_000
CHUNK = 65_536
# What the system may hold of a connection, on both sides.
BUFFERED = 16_000_000


class Flood:
    """A server that answers everything with 100 MB, and counts what it could send."""

    def __init__(self) -> None:
        self.sent = 0
        self.cut = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
        writer.write(b"transfer-encoding: chunked\r\n\r\n")
        piece = b"%x\r\n%s\r\n" % (CHUNK, b" " * CHUNK)
        try:
            while self.sent < HUGE:
                writer.write(piece)
                await writer.drain()
                self.sent += CHUNK
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()
            self.cut.set()


@pytest.mark.realtime
async def test_answer_without_end_is_cut_and_counts_as_none() -> None:
    flood = Flood()
    server = await asyncio.start_server(flood.serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    word = {"username": Sensitive("me"), "password": Sensitive("s3cret")}
    providers = ImProviders(InfraMetrics())
    async with server:
        with pytest.raises(ProviderError) as failed:
            await providers(ProviderSession(url, word, None)).state("i-1")
        await flood.cut.wait()
        await providers.close()
    assert failed.value.failure.kind is ErrorClass.TRANSIENT
    assert flood.sent < ANSWER_BYTES + BUFFERED
    assert "s3cret" not in str(failed.value)


@pytest.mark.realtime
@pytest.mark.parametrize("host", ["0.0.0.0", "0", "[::]"])
async def test_special_address_is_not_called_whoever_names_it(host: str) -> None:
    # Of all special addresses the one that is loopback, if it is called after all.
    providers = ImProviders(InfraMetrics())
    session = ProviderSession(f"http://{host}:1", {"token": Sensitive("s3cret")}, None)
    with pytest.raises(ProviderError, match="not allowed"):
        await providers(session).version()
    await providers.close()
