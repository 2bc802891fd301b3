"""A visitor: a connection that comes from somewhere and may end up speaking something else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from quintant.agents.multiplex.socket import WebSocket
from quintant.agents.relay.visitor.fields import ClientOrigin
from quintant.http.connection import Connection


class Visitor(Connection):
    """One connection; `arrive` makes the task that serves it."""

    def __init__(self, arrive: Callable[[Visitor], asyncio.Task[None]]) -> None:
        super().__init__(arrive)
        self.origin: ClientOrigin | None = None
        """Where it comes from, once somebody asked."""
        self.upgraded = False
        """Whether it speaks something else than HTTP by now."""

    def hand_over(self, protocol: WebSocket) -> None:
        """Let a WebSocket have the connection, with what came and was not taken yet."""
        raw, transport = bytes(self._buffer), self.transport
        self._transport, self._task = None, None
        self.deadline.stop()
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        if self._stopped:
            transport.resume_reading()
        protocol.data_received(raw)

    def eof_received(self) -> bool:
        super().eof_received()
        # Who speaks something else may want to read on. TLS knows no half-closed connection.
        return self.upgraded and self.transport.can_write_eof()
