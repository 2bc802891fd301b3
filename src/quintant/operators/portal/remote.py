"""What tunnels report, as they report it: one long answer per pod, one line per change.

`TunnelLines` is the protocol; `http_lines` speaks it on the wire. `reports_by` makes of either the
conversation that a Follower keeps: the reports that are the pod's own, each newer than the last.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from http import HTTPStatus
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport, TransportLimits
from quintant.client.transport import ApiRequest
from quintant.core.address import BindAddress
from quintant.core.clock import find_timestamp, micro_timestamp, timestamp
from quintant.core.text import one_line
from quintant.operators.portal.api import MOST_RELAYS, URL_LENGTH
from quintant.operators.portal.builders import ADMIN_PORT
from quintant.runtime.source.follower import Conversation, Unreachable
from quintant.runtime.watch.line_buffer import LineBuffer
from quintant.wire.foreign import MalformedInput, decode_json
from quintant.wire.tunnelreport import VERSION, RelayReport, Report

# A pod on this network answers at once, or not at all.
CONNECT_SECONDS = 5.0
MOST_VISITS = 1_000_000
"""Between two reports, which are seconds apart: a tunnel that tells of more is not believed."""
MOST_REPORT = 256 * 1024
"""Bytes of a report: sixteen relays, with the longest names and errors, take 50,000."""


class TunnelPod(NamedTuple):
    """A tunnel to listen to."""

    uid: str
    address: str


class TunnelLines(Protocol):
    """How a tunnel is listened to."""

    def __call__(self, address: str, /) -> AsyncGenerator[bytes, None]:
        """What the tunnel at an address reports, line by line, until it cannot be reached."""


async def http_lines(address: str) -> AsyncGenerator[bytes, None]:
    """`GET /status?watch=1` of a tunnel's admin port, line by line."""
    server = Config(f"http://{BindAddress(address, ADMIN_PORT)}")
    transport = HttpTransport(server, limits=TransportLimits(connect=CONNECT_SECONDS))
    try:
        async with transport.stream(ApiRequest("GET", "/status", {"watch": "1"})) as answer:
            if answer.status != HTTPStatus.OK:
                raise Unreachable(f"answered with {answer.status}")
            buffer, pending = LineBuffer(), 0
            async for chunk in answer.chunks:
                for line in buffer.feed(chunk):
                    yield line
                ended = chunk.rfind(b"\n") + 1
                pending = len(chunk) - ended + (0 if ended else pending)
                if pending > MOST_REPORT:
                    raise Unreachable(f"a report of more than {MOST_REPORT} bytes")
    finally:
        await transport.close()


def reports_by(
    lines: TunnelLines, visited: Callable[[int], object]
) -> Conversation[TunnelPod, Report]:
    """The conversation with a tunnel pod that is listened to in this way.

    `visited` hears how many visitors came between two reports.
    """

    async def reports(pod: TunnelPod, /) -> AsyncGenerator[Report, None]:
        # A program that was restarted counts from one again, so each answer begins again.
        known: Report | None = None
        async with aclosing(lines(pod.address)) as answer:
            async for line in answer:
                before, known = known, newer(known, parse(line), pod.uid)
                if known is not None and known is not before:
                    if before is not None:
                        visited(min(max(known.visits - before.visits, 0), MOST_VISITS))
                    yield known

    return reports


def parse(raw: bytes) -> Report | None:
    """The report that bytes hold; None if they hold none that we understand."""
    try:
        report = decode_json(raw, Report, most=MOST_REPORT)
    except MalformedInput:
        return None
    return _fit(report) if report.v == VERSION else None


def newer(known: Report | None, heard: Report | None, uid: str) -> Report | None:
    """What to believe of a pod: the newest report that is its own."""
    if heard is None or (heard.pod and heard.pod != uid):
        return known
    return known if known is not None and heard.seq < known.seq else heard


def same(one: Report, other: Report) -> bool:
    """Whether two reports say the same, whenever they were made."""
    return (one.draining, one.service, one.relays) == (other.draining, other.service, other.relays)


def _fit(report: Report) -> Report:
    """A report whose texts a status can hold: short lines, and moments that are some."""
    service = replace(report.service, error=one_line(report.service.error))
    return replace(
        report,
        service=service,
        relays=tuple(map(_fit_relay, report.relays[:MOST_RELAYS])),
        observed_at=_moment(report.observed_at),
    )


def _fit_relay(relay: RelayReport) -> RelayReport:
    url = relay.public_url if len(relay.public_url) <= URL_LENGTH else ""
    return replace(
        relay,
        since=_moment(relay.since),
        last_error=one_line(relay.last_error),
        public_url=one_line(url, URL_LENGTH) if url.startswith("https://") else "",
    )


def _moment(text: str) -> str:
    """A moment as a server takes it; empty if the text is none."""
    moment = find_timestamp(text)
    if moment is None:
        return ""
    return micro_timestamp(moment) if moment.microsecond else timestamp(moment)
