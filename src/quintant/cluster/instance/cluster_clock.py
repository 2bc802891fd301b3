"""FakeClock: the time of a running cluster, which may be ahead of the machine's.

    GET  /quintant/v1/clock                        {"now":"2026-01-01T00:00:00Z","ahead":0.0}
    POST /quintant/v1/clock  {"advance":129600}    the same, afterwards

Everything that a cluster does at a time, it does because an object says so: a schedule, a deadline,
an expiry. So its components are ended, the clock goes on, and they are made anew: each looks at
every object and finds what is due, whatever it slept for. TLS has the machine's time, and so no
certificate of the server's ends.
"""

from __future__ import annotations

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


class ClockChange(Struct, frozen=True):
    """What an administrator sends."""

    advance: float
    """Seconds."""


class ClusterClock(Struct, frozen=True):
    """Advances the clock of a cluster."""

    server: ApiServer
    clock: AdvancedClock
    stopped: Stopped
    """While its context lasts, nothing runs that waits for a time."""

    def serve(self) -> None:
        """Answer administrators who ask for it."""
        self.server.mux.handle(PATH, self.answer)

    async def answer(self, call: ApiRequest) -> ApiResponse:
        """The reply to a request; 400 for a step that is none."""
        match call.method:
            case "POST":
                try:
                    await self.advance(decode_json(call.body or b"", ClockChange).advance)
                except ValueError as error:
                    raise bad_request(f"the clock stays as it is: {error}") from None
            case "GET":
                pass
            case _:
                raise method_not_supported()
        return ApiResponse(200, msgspec.json.encode(self.status()))

    def status(self) -> ClockStatus:
        """What time it is."""
        return ClockStatus(timestamp(self.clock.now()), self.clock.ahead)

    async def advance(self, seconds: float) -> None:
        """Go on by so many seconds, and do what is due then; ValueError if that is not forward."""
        self.clock.check(seconds)
        async with self.stopped():
            self.clock.advance(seconds)
            self.server.advance(seconds)
