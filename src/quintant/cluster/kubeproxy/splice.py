"""kube-proxy: one TCP connection: two sockets, and what goes between them.

Bytes pass unchanged, in both directions, no faster than the slower side takes them. When one side
has said its last word the other may still speak; when both have, or one is gone, it is over.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import cast

_RESET = struct.pack("ii", 1, 0)
"""Linger for no time: the socket is closed with a reset instead of a proper end."""


class SplicedSocket(asyncio.Protocol):
    """One of the two sockets; `opened` and `closed` are told when it comes and goes."""

    def __init__(
        self, opened: Callable[[SplicedSocket], None], closed: Callable[[SplicedSocket], None]
    ) -> None:
        self.transport: asyncio.Transport
        self._connected = self._aborted = False
        self._opened, self._closed = opened, closed
        self._other: SplicedSocket | None = None
        self._early = b""
        self._ended = False

    @property
    def peer(self) -> str:
        """The address of whoever is at the other end of the socket."""
        name = self.transport.get_extra_info("peername")
        return str(name[0]) if name else ""

    def splice(self, other: SplicedSocket) -> None:
        """Let everything that comes from one side go to the other, from now on."""
        if self.transport.is_closing() or other.transport.is_closing():
            self.abort()
            other.abort()
            return
        self._other, other._other = other, self
        for side in (self, other):
            side._begin()

    def abort(self) -> None:
        """Drop the connection at once: whoever is at the other end is told that it broke."""
        self._aborted = True
        if not self._connected:
            return
        held = self.transport.get_extra_info("socket")
        if held is not None and not self.transport.is_closing():
            held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        # Nothing is read before there is somewhere to put it.
        self.transport.pause_reading()
        self._connected = True
        self._opened(self)
        if self._aborted:
            self.abort()

    def data_received(self, data: bytes) -> None:
        if self._other is not None:
            self._other.transport.write(data)
        else:
            # uvloop begins to read whatever it is told in connection_made.
            self._early += data
            self.transport.pause_reading()

    def pause_writing(self) -> None:
        if self._other is not None and not self._other.transport.is_closing():
            self._other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self._other is not None and not self._other.transport.is_closing():
            self._other.transport.resume_reading()

    def eof_received(self) -> bool:
        self._ended = True
        other = self._other
        if other is None:
            return True
        if other.transport.is_closing():
            return False
        if other._ended:
            other.transport.close()
            return False
        other.transport.write_eof()
        return True

    def connection_lost(self, error: Exception | None) -> None:
        other = self._other
        if other is not None and not other.transport.is_closing():
            # What broke on one side must not look like a proper end on the other.
            if error is not None:
                other.abort()
            else:
                other.transport.close()
        self._closed(self)

    def _begin(self) -> None:
        """Pass on what came before there was another side, and go on reading."""
        if self._early:
            self.data_received(self._early)
        if self._ended:
            self.eof_received()
        else:
            self.transport.resume_reading()
