"""FakeClock: the time of a running cluster, which may be ahead of the machine's.

    GET  /quintant/v1/clock                        {"now":"2026-01-01T00:00:00Z","ahead":0.0}
    POST /quintant/v1/clock  {"advance":129600}    the same, afterwards
    POST /quintant/v1/clock  {"paused":true}       the same; false resumes it

Everything that a cluster does at a time, it does because an object says so: a schedule, a deadline,
an expiry. So its components are ended, the clock goes on, and they are made anew: each looks at
every object and finds what is due, whatever it slept for. TLS has the machine's time, and so no
certificate of the server's ends. While the clock is paused no component runs: each would wait for a
time that does not come, or ask for it without rest.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import msgspec
from msgspec import Struct

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.meta.status import bad_request, method_not_supported
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.instance.snapshots import Stopped
from quintant.core.clock import AdvancedClock, timestamp
from quintant.wire.foreign import decode_json

PATH = "/quintant/v1/clock"


class ClockStatus(Struct, frozen=True):
    """What time it is in a cluster."""

    now: str
    """In RFC 3339."""
    ahead: float
    """Seconds, of the machine's time."""
    paused: bool = False
    """Whether it stands still, and the components of the cluster with it."""


class ClockChange(Struct, frozen=True):
    """What an administrator sends."""

    advance: float | None = None
    """Seconds."""
    paused: bool | None = None
    """Whether it is to stand still."""


class ClusterClock:
    """Advances and pauses the clock of a cluster.

    While the context of `stopped` lasts, nothing runs that waits for a time.
    """

    def __init__(self, server: ApiServer, clock: AdvancedClock, stopped: Stopped) -> None:
        self.server = server
        self.clock = clock
        self.stopped = stopped
        self._turn = asyncio.Lock()
        self._standstill = AsyncExitStack()

    def serve(self) -> None:
        """Answer administrators who ask for it."""
        self.server.mux.handle(PATH, self.answer)

    async def answer(self, call: ApiRequest) -> ApiResponse:
        """The reply to a request; 400 for a step that is none."""
        match call.method:
            case "POST":
                try:
                    await self.change(decode_json(call.body or b"", ClockChange))
                except ValueError as error:
                    raise bad_request(f"the clock stays as it is: {error}") from None
            case "GET":
                pass
            case _:
                raise method_not_supported()
        return ApiResponse(200, msgspec.json.encode(self.status()))

    def status(self) -> ClockStatus:
        """What time it is."""
        return ClockStatus(timestamp(self.clock.now()), self.clock.ahead, self.clock.paused)

    async def change(self, wanted: ClockChange) -> None:
        """Do what an administrator sent; ValueError if that is nothing, or not forward."""
        if wanted.advance is None and wanted.paused is None:
            raise ValueError("neither a step nor whether it is to be paused was sent")
        if wanted.advance is not None:
            await self.advance(wanted.advance)
        if wanted.paused is not None:
            await (self.pause() if wanted.paused else self.resume())

    async def advance(self, seconds: float) -> None:
        """Go on by so many seconds, and do what is due then; ValueError if that is not forward.

        What is due while the clock is paused is done when it is resumed.
        """
        async with self._turn:
            self.clock.check(seconds)
            if self.clock.paused:
                self._step(seconds)
                return
            async with self.stopped():
                self._step(seconds)

    async def pause(self) -> None:
        """Stand still, and every component with it; nothing if it does already."""
        async with self._turn:
            if not self.clock.paused:
                await self._standstill.enter_async_context(self.stopped())
                self.clock.pause()

    async def resume(self) -> None:
        """Go on from where it stood still, with components made anew."""
        async with self._turn:
            self.clock.resume()
            await self._standstill.aclose()

    def _step(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.server.advance(seconds)
