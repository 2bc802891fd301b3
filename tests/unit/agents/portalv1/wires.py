"""A WebSocket between a tunnel and a relay, without a network: what one sends, the other hears."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from quintant.agents.multiplex.connection import Keepalive, MultiplexConnection
from quintant.agents.multiplex.session import SessionState
from quintant.agents.multiplex.socket import MessageHandler
from quintant.agents.multiplex.stream import ByteStream
from quintant.agents.multiplex.websocket import Parts
from quintant.agents.portalv1.handshake import Ambient
from quintant.agents.portalv1.identity import PortalCredential
from quintant.agents.relay.tunnel.name_registry import NameRegistry
from quintant.agents.relay.tunnel.portalv1_names import PortalV1Names
from quintant.agents.relay.tunnel.portalv1_tunnel import PortalV1Connection
from quintant.agents.relay.tunnel.tokens import ANYBODY
from quintant.agents.relay.tunnel.tunnel_connection import TunnelConnection
from quintant.agents.tunnel.portalv1_session import PortalV1RelaySession
from quintant.wire.portal import Opening, Reason
from unit.agents.multiplex.ends import Ear


class Wire:
    """One end of it."""

    def __init__(self) -> None:
        self.other: Wire | None = None
        self.handler: MessageHandler | None = None
        self.full = False
        self._early: list[bytes] = []

    def attach(self, handler: MessageHandler) -> None:
        self.handler, early, self._early = handler, self._early, []
        for raw in early:
            handler.message(raw)

    def send(self, payloads: Sequence[Parts]) -> bool:
        for parts in payloads:
            asyncio.get_running_loop().call_soon(self._carry, b"".join(parts))
        return True

    def _carry(self, raw: bytes) -> None:
        if self.other is None:
            return
        if self.other.handler is None:
            self.other._early.append(raw)
        else:
            self.other.handler.message(raw)

    async def close(self, reason: Reason) -> None:
        if self.other is not None and self.other.handler is not None:
            self.other.handler.over(reason)
        self.abort()

    def limit_unread(self) -> None: ...

    def abort(self) -> None:
        if self.handler is not None:
            self.handler.over(Reason(0, "connection lost"))
        if self.other is not None:
            other, self.other = self.other, None
            other.abort()


def wires() -> tuple[Wire, Wire]:
    """Both ends."""
    one, two = Wire(), Wire()
    one.other, two.other = two, one
    return one, two


def loop_ambient() -> Ambient:
    """Time as the loop has it, so that virtual time moves it."""
    loop = asyncio.get_running_loop()
    return Ambient(lambda: 1_700_000_000 + loop.time())


class Backend:
    """Where visitors arrive."""

    def __init__(self) -> None:
        self.ears: list[Ear[ByteStream]] = []

    def opened(self, stream: ByteStream, opening: Opening) -> None:
        self.ears.append(Ear(stream))


class V1Relay:
    """The relay's part: its names, and connections of tunnels."""

    def __init__(self) -> None:
        self.names: NameRegistry[TunnelConnection] = NameRegistry()
        self.connections: list[PortalV1Connection] = []

    def connect(
        self, app: str, seed: bytes, backend: Backend
    ) -> tuple[PortalV1RelaySession, asyncio.Task[Reason]]:
        """A tunnel of this key; its session, and how it ends."""
        near, far = wires()
        link = MultiplexConnection(far, Keepalive())
        names = PortalV1Names(self.names, ANYBODY)
        there = PortalV1Connection(link, PortalCredential(b"\x09" * 32), names, loop_ambient())
        self.connections.append(there)
        serving = asyncio.get_running_loop().create_task(link.run(there.session))
        serving.add_done_callback(lambda _: there.close())
        session = PortalV1RelaySession(
            MultiplexConnection(near, Keepalive()), backend, app, seed, self._connected,
            loop_ambient(),
        )  # fmt: skip
        return session, asyncio.get_running_loop().create_task(session.run())

    def _connected(self, public_url: str) -> None:
        assert public_url == ""

    def holders(self, app: str) -> list[TunnelConnection]:
        """The tunnels that have a name, and take visitors."""
        return [
            each for each in self.names.sessions(app) if each.session.state is SessionState.OPEN
        ]
