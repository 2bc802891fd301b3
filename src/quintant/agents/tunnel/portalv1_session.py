"""A connection to a relay of Portal's own protocol: a lease, renewed, and visitors by handshake.

Tunnels of one key share a name as far as such a relay can: it sends visitors to whichever renewed
last, and when that one goes, to the next that renews. So a tunnel that drains stops renewing first,
and goes on serving until another had the time to take over.
"""

from __future__ import annotations

import asyncio

from quintant.agents.multiplex.connection import MultiplexConnection
from quintant.agents.multiplex.duplex import DuplexStream, StreamReset
from quintant.agents.multiplex.session import SessionState
from quintant.agents.multiplex.stream import MultiplexStream
from quintant.agents.portalv1.handshake import Ambient, TunnelHandshake
from quintant.agents.portalv1.identity import PortalCredential
from quintant.agents.portalv1.lease import (
    RENEW_SECONDS,
    BadLease,
    read_update_response,
    update_packet,
)
from quintant.agents.portalv1.messages import FrameBuffer, PortalCode, TooLong
from quintant.agents.portalv1.records import RecordBudget
from quintant.agents.portalv1.secure_stream import SecureStream
from quintant.agents.portalv1.session import YamuxSession
from quintant.agents.tunnel.relay_session import Connected, StreamHandler
from quintant.wire.portal import PROTOCOL, Close, Farewell, Opening, Reason, StreamKind

RESPONSE_SECONDS = 10.0
"""A relay that has not answered by then is none, or is in trouble."""
HANDOVER_SECONDS = RENEW_SECONDS + 1.0
"""By then every other tunnel of the key has renewed."""
_REFUSALS = {
    PortalCode.REJECTED: Reason(
        Close.HELD, "the relay refuses the name: another key holds it, or it is banned there"
    ),
    PortalCode.INVALID_NAME: Reason(Close.NOT_ALLOWED, "the relay does not take this name"),
}


class PortalV1RelaySession:
    """One connection in Portal's protocol v1."""

    def __init__(
        self,
        connection: MultiplexConnection,
        backend: StreamHandler,
        app: str,
        seed: bytes,
        connected: Connected,
        ambient: Ambient = Ambient(),
    ) -> None:
        self.connection = connection
        self._backend, self._app = backend, app
        self._credential, self._connected, self._ambient = (
            PortalCredential(seed),
            connected,
            ambient,
        )
        self._session = YamuxSession(self, client=True)
        self._budget = RecordBudget()
        self._empty, self._draining = asyncio.Event(), asyncio.Event()
        self.welcomed: bool = False
        self.away: asyncio.Future[Farewell] = asyncio.get_running_loop().create_future()

    async def run(self) -> Reason:
        """Claim the name, and serve until it is over."""
        renewing = asyncio.get_running_loop().create_task(self._renew())
        try:
            reason = await self.connection.run(self._session)
        finally:
            renewing.cancel()
            await asyncio.wait({renewing})
        return reason if self.welcomed or reason.code == Close.HELD else _unwelcome(reason)

    async def drain(self, seconds: float) -> None:
        """Let another tunnel of the key take over, finish the visitors, and close."""
        if self._session.state is not SessionState.OPEN:
            return
        self._draining.set()
        try:
            async with asyncio.timeout(seconds):
                await asyncio.sleep(min(HANDOVER_SECONDS, seconds))
                while self._session.streams:
                    self._empty.clear()
                    await self._empty.wait()
        except TimeoutError:
            pass
        await self.connection.close(Reason(Close.GONE, "drained"))

    async def _renew(self) -> None:
        """Claim the name again and again, until the tunnel drains."""
        try:
            while not self._draining.is_set():
                self._answered(await self._claim())
                await self._pause()
        except TimeoutError:
            self.connection.give_up(Reason(0, f"no lease within {RESPONSE_SECONDS:.0f} s"))
        except (BadLease, TooLong) as error:
            self.connection.give_up(Reason(Close.BAD_FRAME, str(error)))
        except StreamReset as broken:
            self.connection.give_up(Reason(0, f"the lease was not answered: {broken}"))

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(RENEW_SECONDS):
                await self._draining.wait()
        except TimeoutError:
            return

    async def _claim(self) -> PortalCode:
        """Ask for the lease; what the relay says."""
        duplex, frames = DuplexStream(self._session.open()), FrameBuffer()
        try:
            async with asyncio.timeout(RESPONSE_SECONDS):
                await duplex.write(update_packet(self._credential, self._app, self._ambient))
                while (message := frames.next()) is None:
                    raw = await duplex.read()
                    if not raw:
                        raise BadLease("the relay does not answer the lease")
                    frames.feed(bytes(raw))
            duplex.finish()
            return read_update_response(message)
        except BaseException:
            duplex.close()
            raise

    def _answered(self, code: PortalCode) -> None:
        if code is not PortalCode.ACCEPTED:
            other = Reason(0, f"the relay refuses the lease: {code.name.lower()}")
            self.connection.give_up(_REFUSALS.get(code, other))
        elif not self.welcomed:
            self.welcomed = True
            self._session.agree()
            self._connected("")

    def _visited(self, stream: SecureStream) -> None:
        self._backend.opened(stream, Opening(StreamKind.HTTP, "", ""))

    # What the session calls.

    def opened(self, stream: MultiplexStream) -> None:
        handshake = TunnelHandshake(self._credential, self._ambient)
        SecureStream(stream, handshake, self._budget, self._visited)

    def leaving(self) -> None:
        if not self.away.done():
            self.away.set_result(Farewell("restart"))

    def emptied(self) -> None:
        self._empty.set()

    def ponged(self, payload: bytes) -> None:
        self.connection.ponged(payload)

    def wake(self) -> None:
        self.connection.wake()


def _unwelcome(reason: Reason) -> Reason:
    """What to say of a relay that speaks neither protocol, or does not want us."""
    message = f"it does not offer {PROTOCOL}; as a relay of Portal's protocol v1: {reason.msg}"
    return Reason(reason.code, message, reason.retry_after_ms)
