"""A client of pods/exec over WebSockets: what it hears on each channel, and what it says."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255


class ExecClient:
    """One session; what came on a channel is kept."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.came: dict[int, bytes] = {}

    async def say(self, data: bytes, channel: int = STDIN) -> None:
        await self.socket.send(bytes((channel,)) + data)

    async def end_input(self) -> None:
        await self.say(bytes((STDIN,)), CLOSE)

    async def resize(self, width: int, height: int) -> None:
        await self.say(msgspec.json.encode({"Width": width, "Height": height}), RESIZE)

    async def hear(self) -> bool:
        """Take one message; False at the end."""
        try:
            message = await self.socket.recv()
        except ConnectionClosed:
            return False
        assert isinstance(message, bytes)
        channel, data = message[0], message[1:]
        self.came[channel] = self.came.get(channel, b"") + data
        return True

    async def until(self, text: bytes, channel: int = STDOUT) -> bytes:
        """Everything of a channel, once it has a text."""
        while text not in self.came.get(channel, b""):
            assert await self.hear(), f"it ended with {self.came}"
        return self.came[channel]

    async def rest(self) -> dict[str, Any]:
        """Hear it to its end; the status that it ends with."""
        while await self.hear():
            pass
        status: dict[str, Any] = msgspec.json.decode(self.came[ERROR])
        return status


@asynccontextmanager
async def exec_client(
    url: str,
    authority: str,
    token: str,
    pod: str,
    command: Sequence[str],
    protocol: str = V5,
    certificate: Path | None = None,
    **options: bool | str,
) -> AsyncIterator[ExecClient]:
    """A session with a pod of the namespace default, by a token or a certificate."""
    trust = ssl.create_default_context(cadata=authority)
    if certificate is not None:
        trust.load_cert_chain(certificate)
    named = {"stdout": True, "stderr": True, **options}
    flags = [(key, str(value).lower()) for key, value in named.items() if value]
    query = urlencode([*(("command", each) for each in command), *flags])
    path = f"/api/v1/namespaces/default/pods/{pod}/exec"
    async with connect(
        f"wss://{url.removeprefix('https://')}{path}?{query}",
        ssl=trust,
        subprotocols=[Subprotocol(protocol)],
        additional_headers={"authorization": f"Bearer {token}"} if token else {},
        compression=None,
        proxy=None,
    ) as socket:
        assert socket.subprotocol == protocol
        yield ExecClient(socket)
