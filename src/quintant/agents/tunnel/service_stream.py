"""A stream of a relay, spliced to a connection to the Service: bytes in, bytes out, no HTTP.

Each side is stopped while the other is full: credit is given back to the relay only for what the
Service's socket took, and the Service is read only while the stream has room.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from quintant.agents.dns.host_resolver import HostResolver
from quintant.agents.multiplex.stream import ByteStream, StreamState
from quintant.agents.tunnel.options import CONNECT_SECONDS, ServiceTarget
from quintant.wire.portal import Fault


class ServiceUnreachable(Exception):
    """The Service cannot be connected to, and which RST tells so."""

    def __init__(self, fault: Fault, text: str) -> None:
        super().__init__(text)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class ServiceDialer:
    """Connects to the Service, wherever it is now."""

    service: ServiceTarget
    resolver: HostResolver
    context: ssl.SSLContext | None

    async def dial(self, make: Callable[[], asyncio.Protocol]) -> None:
        """A new connection, with a protocol made for it; ServiceUnreachable if there is none."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                service = self.service
                await self.resolver.connect(make, service.host, service.port, self.context)
        except TimeoutError:
            raise ServiceUnreachable(Fault.CONNECT_TIMEOUT, "the Service does not answer") from None
        except (socket.gaierror, UnicodeError) as error:
            raise ServiceUnreachable(Fault.DNS, f"{self.service.host}: {error}") from None
        except ssl.SSLError as error:
            raise ServiceUnreachable(Fault.TLS, error.reason or "TLS failed") from None
        except OSError as error:
            raise ServiceUnreachable(Fault.REFUSED, error.strerror or "refused") from None


def tls_context(mode: str) -> ssl.SSLContext | None:
    """How the Service is spoken to."""
    if mode == "off":
        return None
    context = ssl.create_default_context()
    if mode == "insecure":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


class ServiceStream(asyncio.Protocol):
    """Both ends of one stream: the sink of the relay's, the protocol of the Service's."""

    def __init__(self, stream: ByteStream, done: Callable[[ServiceStream, str], None]) -> None:
        self.stream = stream
        self._done = done
        stream.sink = self
        self._transport: asyncio.Transport | None = None
        self._early: list[bytes | memoryview] = []
        self._finished = self._served = False
        self._full = False
        self._owed = 0
        self._over = False

    def fail(self, fault: Fault, text: str) -> None:
        """There is no connection to the Service."""
        self.stream.reset(fault, text)
        self._end(fault.name.lower())

    # What the relay sends: towards the Service.

    def accepted(self) -> None: ...

    def received(self, payload: bytes | memoryview) -> None:
        if self._transport is None:
            self._early.append(payload)
            return
        self._transport.write(payload)
        self._owed += len(payload)
        self._return_credit()

    def ended(self) -> None:
        self._finished = True
        if self._transport is not None:
            self._shut(self._transport)

    def failed(self, code: int, text: str) -> None:
        if self._transport is not None:
            self._transport.abort()
        self._end("cancelled" if code == Fault.CANCEL else "lost")

    def writable(self) -> None:
        if self._transport is not None:
            self._transport.resume_reading()

    # What the Service sends: towards the relay.

    def connection_made(self, made: asyncio.BaseTransport) -> None:
        # Those of uvloop are transports without being derived from asyncio's.
        transport = cast(asyncio.Transport, made)
        if self.stream.state is StreamState.CLOSED:
            transport.abort()
            return
        self._transport = transport
        self.stream.accept()
        early, self._early = self._early, []
        for payload in early:
            self.received(payload)
        if self._finished:
            self._shut(transport)

    def data_received(self, data: bytes) -> None:
        self.stream.send(data)
        if self.stream.full and self._transport is not None:
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        self._served = True
        self.stream.finish()
        # TLS knows no half-closed connection; and who has sent all, too, keeps none.
        half = self._transport is not None and self._transport.can_write_eof()
        return half and not self._finished

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None:
            self.stream.reset(Fault.CANCEL, "the Service closed the connection")
        self.stream.finish()
        self._end("failed" if exc is not None else "ok")

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        self._return_credit()

    def _return_credit(self) -> None:
        if not self._full and self._owed:
            owed, self._owed = self._owed, 0
            self.stream.consumed(owed)

    def _shut(self, transport: asyncio.Transport) -> None:
        if self._served:
            transport.close()
        elif transport.can_write_eof():
            transport.write_eof()

    def _end(self, result: str) -> None:
        if not self._over:
            self._over = True
            self._done(self, result)
