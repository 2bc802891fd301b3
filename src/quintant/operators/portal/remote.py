"""What tunnels tell, heard as they tell it: one long answer per pod, one line per change.

`Lines` is the protocol; `http_lines` speaks it on the wire. A tunnel that does not answer is asked
again after one second, then two, up to fifteen. What it told before is forgotten as soon as it
cannot be reached any more: no word is Unknown, and never Connected.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Protocol

from quintant.api.core import Pod
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport, TransportLimits
from quintant.client.transport import ApiRequest
from quintant.core.address import BindAddress
from quintant.core.clock import monotonic
from quintant.core.errors import TransportError
from quintant.core.object import Request
from quintant.operators.portal.builders import ADMIN_PORT
from quintant.operators.portal.reports import newer, parse, same
from quintant.runtime.cache.lines import LineBuffer as WholeLines
from quintant.runtime.controller.sources import SourceContext
from quintant.wire.tunnelreport import Report

# Between attempts to reach a tunnel, in seconds: it doubles, and varies by a fifth.
FIRST_SECONDS, CAP_SECONDS, JITTER = 1.0, 15.0, 0.2
HEARING_SECONDS = 3.0
"""How long the first word of a tunnel may take before it is missed."""
# A pod on this network answers at once, or not at all.
CONNECT_SECONDS = 5.0


class Unreachable(Exception):
    """A tunnel does not answer, or says nothing sensible."""


class Lines(Protocol):
    """How a tunnel is listened to."""

    def __call__(self, address: str) -> AsyncGenerator[bytes, None]:
        """What the tunnel at an address tells, line by line; Unreachable if it does not."""


async def http_lines(address: str) -> AsyncGenerator[bytes, None]:
    """`GET /status?watch=1` of a tunnel's admin port, line by line."""
    server = Config(f"http://{BindAddress(address, ADMIN_PORT)}")
    transport = HttpTransport(server, limits=TransportLimits(connect=CONNECT_SECONDS))
    try:
        async with transport.stream(ApiRequest("GET", "/status", {"watch": "1"})) as answer:
            if answer.status != HTTPStatus.OK:
                raise Unreachable(f"answered with {answer.status}")
            told = WholeLines()
            async for chunk in answer.chunks:
                for line in told.feed(chunk):
                    yield line
    except TransportError as error:
        raise Unreachable(str(error)) from error
    finally:
        await transport.close()


@dataclass(slots=True)
class _Wish:
    """A tunnel to listen to."""

    address: str
    request: Request
    since: float
    """When we began to listen, in the loop's time."""
    ready: bool = False
    nudge: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it has become ready: there is no reason to wait any longer."""


@dataclass(slots=True)
class Scraper:
    """Listens to the tunnels of every PortalExpose, and wakes it when they tell something new."""

    lines: Lines
    _wishes: dict[str, _Wish] = field(default_factory=dict)
    _heard: dict[str, Report] = field(default_factory=dict)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def listen(self, request: Request, pods: Iterable[Pod]) -> Mapping[str, Report]:
        """Listen to these pods of a PortalExpose, and no others; what each told last, by uid."""
        wanted = {pod.metadata.uid: pod for pod in pods if pod.status.pod_ip and not pod.deleting}
        known = {uid for uid, wish in self._wishes.items() if wish.request == request}
        for uid in known - wanted.keys():
            del self._wishes[uid]
        for uid, pod in wanted.items():
            self._wish(uid, pod, request)
        self._changed.set()
        return {uid: self._heard[uid] for uid in wanted if uid in self._heard}

    def expected(self, request: Request) -> bool:
        """Whether a tunnel of a PortalExpose has not had the time for its first word yet."""
        late = monotonic() - HEARING_SECONDS
        return any(
            wish.request == request and wish.since > late and uid not in self._heard
            for uid, wish in self._wishes.items()
        )

    def forget(self, request: Request) -> None:
        """Stop listening for a PortalExpose that is gone."""
        self.listen(request, ())

    async def run(self, feed: SourceContext) -> None:
        """Keep listening to exactly those that are wished for."""
        tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                wanted = {(uid, wish.address): wish for uid, wish in self._wishes.items()}
                for key in tasks.keys() - wanted.keys():
                    tasks.pop(key).cancel()
                    self._heard.pop(key[0], None)
                for key in wanted.keys() - tasks.keys():
                    follow = self._follow(key[0], wanted[key], feed)
                    tasks[key] = group.create_task(follow)
                await self._changed.wait()
                self._changed.clear()

    def _wish(self, uid: str, pod: Pod, request: Request) -> None:
        wish = self._wishes.get(uid)
        if wish is None or wish.address != pod.status.pod_ip:
            wish = self._wishes[uid] = _Wish(pod.status.pod_ip, request, monotonic())
        if pod.ready and not wish.ready:
            wish.nudge.set()
        wish.ready = pod.ready

    async def _follow(self, uid: str, wish: _Wish, feed: SourceContext) -> None:
        pause = FIRST_SECONDS
        while True:
            if await self._hear(uid, wish, feed):
                pause = FIRST_SECONDS
            elif self._heard.pop(uid, None) is not None:
                feed.queue.add(wish.request)
            await _pause(wish, feed.random.jitter(pause, JITTER))
            pause = min(pause * 2, CAP_SECONDS)

    async def _hear(self, uid: str, wish: _Wish, feed: SourceContext) -> bool:
        """Whether anything was heard before the answer ended."""
        # A program that was restarted counts from one again.
        known: Report | None = None
        try:
            async with aclosing(self.lines(wish.address)) as lines:
                async for line in lines:
                    known = newer(known, parse(line), uid)
                    if known is not None and not same(known, self._heard.get(uid)):
                        self._heard[uid] = known
                        feed.queue.add(wish.request)
        except Unreachable:
            pass
        return known is not None


async def _pause(wish: _Wish, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await wish.nudge.wait()
    wish.nudge.clear()
