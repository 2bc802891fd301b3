"""The common part of simulated devices that speak HTTP: where they listen, and what all answer."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

from quintant.agents.multiplex.program import run, say
from quintant.http.request import Request
from quintant.http.response import TEXT, Response, StreamingResponse
from quintant.http.server import serving

PORT = 11111
ADDRESS = "QUINTANT_POD_IP"
STATES = ("Running", "Idle", "Busy", "Error")

Query = Mapping[str, str]
Answer = Response | StreamingResponse
Page = Callable[[Request], Answer]
Pages = Mapping[str, Page]


class MockOptions(NamedTuple):
    """Where a simulated device listens."""

    name: str
    listen: str
    port: int


def parse(name: str, arguments: Sequence[str], port: int = PORT) -> MockOptions:
    """The options of a command line and of upstream's variables."""
    parser = argparse.ArgumentParser(
        prog=f"quintant agent mockdevice-{name}", description=f"A simulated device: {name}."
    )
    given_port = os.environ.get("MOCKDEVICE_PORT", "")
    parser.add_argument("--listen", default=os.environ.get(ADDRESS, ""), help="an address")
    parser.add_argument(
        "--port",
        type=int,
        default=int(given_port) if given_port.isdigit() else port,
        help="0 is any free one",
    )
    given = parser.parse_args(arguments)
    return MockOptions(os.environ.get("MOCKDEVICE_NAME") or name, given.listen, given.port)


def main(name: str, pages: Pages, arguments: Sequence[str]) -> None:
    """Run a simulated device."""
    options = parse(name, arguments)
    run(lambda stopped: serve(options, pages, stopped), small=True)


async def serve(options: MockOptions, pages: Pages, stopped: asyncio.Event) -> None:
    """Serve pages until the event is set."""
    async with serving(handler(pages), options.listen, options.port) as (host, port):
        say("serve", device=options.name, url=f"http://{host}:{port}", simulator=True)
        await stopped.wait()


def handler(pages: Pages) -> Callable[[Request], Awaitable[Answer]]:
    """Answers by path; whatever has no page is not found."""
    random = Random()
    common: Pages = {
        "health": lambda _: text("Healthy"),
        "get_status": lambda _: text(random.choice(STATES)),
        **pages,
    }

    async def handle(request: Request) -> Answer:
        page = common.get(unquote(request.path).strip("/"))
        if page is None:
            return Response(404, TEXT, b"404 page not found\n")
        return page(request)

    return handle


def query_of(request: Request) -> Query:
    """What a caller asks beyond the path."""
    return dict(parse_qsl(request.query))


def text(message: str, status: int = 200) -> Response:
    """A text, and no line end behind it."""
    return Response(status, TEXT, message.encode())
