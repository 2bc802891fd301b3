"""Who breaks a TLS connection off costs no line in anybody's log: no server of ours complains."""

from __future__ import annotations

import socket
import ssl
import struct
import subprocess
import sys
from collections.abc import Callable

import pytest

import patience

SERVER = """
import asyncio, ssl, sys
from datetime import UTC, datetime
from quintant.core.address import BindAddress
from quintant.http.response import Response
from quintant.keys import tls
from quintant.runtime.manager.loops import loop_factory
from quintant.runtime.observe.listen import listen
from quintant.runtime.webhook.authority import issue_certificate

async def handle(request):
    return Response(200, {}, b"x" * int(request.path.strip("/")))

async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_key_pair(context, issue_certificate(("127.0.0.1",), datetime.now(UTC)).pair)
    async with listen(handle, BindAddress("127.0.0.1", 0), context) as bound:
        print(bound.port, flush=True)
        await asyncio.to_thread(sys.stdin.read)

with asyncio.Runner(loop_factory=loop_factory() if sys.argv[1] == "uvloop" else None) as runner:
    runner.run(main())
"""
LARGE = 20_000_000
"""Bytes of an answer that no socket takes at once."""
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER that makes close() send RST."""
BROKEN_RECORD = b"\x17\x03\x03\x00\x20" + b"\xab" * 32


class TlsClient:
    """A client whose bytes can be cut at will."""

    def __init__(self, port: int) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out)
        self.socket = socket.create_connection(("127.0.0.1", port), patience.seconds(20))

    def hello(self) -> bytes:
        """The first bytes of a handshake."""
        with pytest.raises(ssl.SSLWantReadError):
            self._tls.do_handshake()
        return self._out.read()

    def shake_hands(self) -> TlsClient:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self.socket.sendall(self._out.read())
                self._in.write(self.socket.recv(65536))
            else:
                self.socket.sendall(self._out.read())
                return self

    def ask(self, size: int) -> TlsClient:
        self._tls.write(b"GET /%d HTTP/1.1\r\nhost: a\r\n\r\n" % size)
        self.socket.sendall(self._out.read())
        return self

    def read(self) -> bytes:
        """Some bytes of the answer."""
        while True:
            try:
                return self._tls.read(65536)
            except ssl.SSLWantReadError:
                self._in.write(self.socket.recv(65536))

    def reset(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.socket.close()


def _send(client: TlsClient, data: bytes) -> TlsClient:
    client.socket.sendall(data)
    return client


BREAKS: dict[str, Callable[[TlsClient], TlsClient]] = {
    "before a byte": lambda client: client,
    "no TLS": lambda client: _send(client, b"GET / HTTP/1.1\r\n\r\n"),
    "nonsense": lambda client: _send(client, b"\x16\x03\x01\x00\x10" + b"\xff" * 16),
    "half a hello": lambda client: _send(client, client.hello()[:20]),
    "after the hello": lambda client: _send(client, client.hello()),
    "after the handshake": lambda client: client.shake_hands(),
    "a broken record": lambda client: _send(client.shake_hands(), BROKEN_RECORD),
    "an answer unread": lambda client: client.shake_hands().ask(LARGE),
    "a broken record in an answer": lambda client: _send(
        client.shake_hands().ask(LARGE), BROKEN_RECORD
    ),
}


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_broken_connections_are_no_errors(loop: str) -> None:
    command = [sys.executable, "-c", SERVER, loop]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        for break_off in BREAKS.values():
            break_off(TlsClient(port)).socket.close()
            break_off(TlsClient(port)).reset()
        client = TlsClient(port).shake_hands().ask(1)
        assert client.read().startswith(b"HTTP/1.1 200")
        client.socket.close()
        _, complaints = server.communicate(timeout=patience.seconds(60))
    assert (server.returncode, complaints.decode()) == (0, "")
