"""What tunnels tell, heard as they tell it: one long answer per pod, one line per change.

`TunnelLines` is the protocol; `http_lines` speaks it on the wire. `reports_by` makes of either the
conversation that a Follower keeps: the reports that are the pod's own, each newer than the last.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from http import HTTPStatus
from typing import NamedTuple, Protocol

import msgspec

from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport, TransportLimits
from quintant.client.transport import ApiRequest
from quintant.core.address import BindAddress
from quintant.operators.portal.builders import ADMIN_PORT
from quintant.runtime.cache.line_buffer import LineBuffer
from quintant.runtime.controller.follower import Conversation, Unreachable
from quintant.wire.tunnelreport import VERSION, Report

# A pod on this network answers at once, or not at all.
CONNECT_SECONDS = 5.0


class TunnelPod(NamedTuple):
    """A tunnel to listen to."""

    uid: str
    address: str


class TunnelLines(Protocol):
    """How a tunnel is listened to."""

    def __call__(self, address: str, /) -> AsyncGenerator[bytes, None]:
        """What the tunnel at an address tells, line by line, until it cannot be reached."""


async def http_lines(address: str) -> AsyncGenerator[bytes, None]:
    """`GET /status?watch=1` of a tunnel's admin port, line by line."""
    server = Config(f"http://{BindAddress(address, ADMIN_PORT)}")
    transport = HttpTransport(server, limits=TransportLimits(connect=CONNECT_SECONDS))
    try:
        async with transport.stream(ApiRequest("GET", "/status", {"watch": "1"})) as answer:
            if answer.status != HTTPStatus.OK:
                raise Unreachable(f"answered with {answer.status}")
            told = LineBuffer()
            async for chunk in answer.chunks:
                for line in told.feed(chunk):
                    yield line
    finally:
        await transport.close()


def reports_by(lines: TunnelLines) -> Conversation[TunnelPod, Report]:
    """The conversation with a tunnel pod that is listened to in this way."""

    async def reports(pod: TunnelPod, /) -> AsyncGenerator[Report, None]:
        # A program that was restarted counts from one again, so each answer begins anew.
        known: Report | None = None
        async with aclosing(lines(pod.address)) as told:
            async for line in told:
                before, known = known, newer(known, parse(line), pod.uid)
                if known is not None and known is not before:
                    yield known

    return reports


def parse(raw: bytes) -> Report | None:
    """The report that bytes hold; None if they hold none that we understand."""
    try:
        report = msgspec.json.decode(raw, type=Report)
    except msgspec.DecodeError:
        return None
    return report if report.v == VERSION else None


def newer(known: Report | None, heard: Report | None, uid: str) -> Report | None:
    """What to believe of a pod: the newest report that is its own."""
    if heard is None or (heard.pod and heard.pod != uid):
        return known
    return known if known is not None and heard.seq < known.seq else heard


def same(one: Report, other: Report) -> bool:
    """Whether two reports tell the same, whenever they did."""
    return (one.draining, one.service, one.relays) == (other.draining, other.service, other.relays)
