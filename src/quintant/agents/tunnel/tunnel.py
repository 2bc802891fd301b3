"""A tunnel at work: its uplinks, the connections to the Service, and the end of it all."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from random import Random, SystemRandom

from quintant.agents.multiplex.program import say
from quintant.agents.multiplex.stream import Stream
from quintant.agents.tunnel.admin import serving
from quintant.agents.tunnel.host_resolver import Places
from quintant.agents.tunnel.metrics import Metrics
from quintant.agents.tunnel.options import Options
from quintant.agents.tunnel.relay_connection import Uplink
from quintant.agents.tunnel.service_stream import Dialer, Pipe, Unreached, tls_context
from quintant.agents.tunnel.status import Board
from quintant.version import QUINTANT
from quintant.wire.portal import Hello, Opening


async def serve(options: Options, stopped: asyncio.Event) -> None:
    """Be a tunnel until told to stop, then drain."""
    board, metrics = Board(options.pod, lambda: datetime.now(UTC)), Metrics()
    places = Places(options.resolve)
    dialer = Dialer(options.service, places, tls_context(options.service.tls))
    hello = Hello(options.app, options.group, options.pod, f"quintant/{QUINTANT}")
    # Seeded once: masks and pauses have to be unforeseen, and asking the system each time is slow.
    random = Random(SystemRandom().getrandbits(256))
    async with asyncio.TaskGroup() as group:
        visits = Visits(dialer, board, metrics, group)
        uplinks = [Uplink(relay, hello, visits, board) for relay in options.relays]
        async with serving(board, lambda: metrics.text(board, visits.active), options.admin):
            say("started", app=options.app, admin=board.admin_port)
            works = [group.create_task(each.run(places, random, metrics)) for each in uplinks]
            await stopped.wait()
            say("draining", streams=visits.active)
            board.drain()
            await asyncio.gather(*(each.drain(options.drain) for each in uplinks))
            for work in works:
                work.cancel()
            visits.close()
    say("ended")


class Visits:
    """The visitors that are here, whichever relay they came by."""

    def __init__(
        self, dialer: Dialer, board: Board, metrics: Metrics, group: asyncio.TaskGroup
    ) -> None:
        self._dialer, self._board, self._metrics, self._group = dialer, board, metrics, group
        self._dials: dict[Pipe, asyncio.Task[None]] = {}
        self.active = 0

    def opened(self, stream: Stream, opening: Opening) -> None:
        """A visitor came: connect to the Service for it."""
        pipe = Pipe(stream, self._done)
        self.active += 1
        task = self._group.create_task(self._dial(pipe))
        self._dials[pipe] = task

    def close(self) -> None:
        """Give up what is still being connected."""
        for task in self._dials.values():
            task.cancel()

    async def _dial(self, pipe: Pipe) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            await self._dialer.dial(lambda: pipe)
        except Unreached as unreached:
            # Forgotten first, or its end would cancel the very task that tells of it.
            self._dials.pop(pipe, None)
            pipe.fail(unreached.fault, str(unreached))
            self._board.reach(str(unreached))
            return
        finally:
            self._dials.pop(pipe, None)
        self._metrics.dial.observe(loop.time() - began)
        self._board.reach("")

    def _done(self, pipe: Pipe, result: str) -> None:
        self.active -= 1
        self._metrics.streams.add(result)
        self._metrics.bytes.add("in", by=pipe.stream.got_bytes)
        self._metrics.bytes.add("out", by=pipe.stream.sent_bytes)
        if (dial := self._dials.pop(pipe, None)) is not None and not dial.done():
            dial.cancel()
