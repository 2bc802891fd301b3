"""A program that uses the lightpeer beside it, or the file that a klightpeer keeps.

    python lightclient.py write -lpAddress=:9081 -every=60     a greeting with the time
    python lightclient.py read -lpAddress=:9081 -every=60      prints the newest one
    python lightclient.py write -file=/tempsto/index.html      a line with the time
    python lightclient.py read -file=/tempsto/index.html       prints the file

Nothing that goes wrong ends it: a peer or a file that is not there yet will be.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc.aio

from quintant.wire.lightpeer import (
    PERSIST,
    QUERY,
    EmptyQueryRequest,
    PersistRequest,
    QueryResponse,
)

CALL_SECONDS = 10.0
"""How long a peer may take."""


def main(arguments: Sequence[str]) -> None:
    """Write or read again and again, until it is ended."""
    made = argparse.ArgumentParser(prog="lightclient", allow_abbrev=False)
    made.add_argument("verb", choices=("write", "read"))
    made.add_argument("-lpAddress", default=":9081", help="a lightpeer; without a host, this pod's")
    made.add_argument("-file", type=Path, help="a file instead")
    made.add_argument("-every", type=float, default=1.0, help="seconds in between")
    given = made.parse_args(arguments)
    # The first process of a container is not ended by a signal that it does not handle.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    place = File(given.file) if given.file is not None else Chain(given.lpAddress)
    asyncio.run(_repeat(place, given.verb, given.every))


class File:
    """A file beside a klightpeer: its last line is the newest."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def write(self) -> str:
        line = _now()
        with self._path.open("a") as opened:
            opened.write(f"{line}\n")
        return f"wrote {line}"

    async def read(self) -> str:
        return self._path.read_text().rstrip()


class Chain:
    """The chain of a lightpeer."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = f"{host or os.environ.get('QUINTANT_POD_IP') or 'localhost'}:{port}"

    async def write(self) -> str:
        greeting = f"hello at {_now()}"
        async with self._channel() as channel:
            asked = PersistRequest(greeting.encode()).encode()
            await channel.unary_unary(PERSIST.path)(asked, timeout=CALL_SECONDS)
        return f"wrote {greeting}"

    async def read(self) -> str:
        async with self._channel() as channel:
            asked = EmptyQueryRequest().encode()
            call = channel.unary_stream(QUERY.path)(asked, timeout=CALL_SECONDS)
            async for raw in call:
                call.cancel()
                return QueryResponse.decode(raw).payload.decode(errors="replace")
        return "nothing yet"

    def _channel(self) -> Any:
        return grpc.aio.insecure_channel(self._address, (("grpc.enable_http_proxy", 0),))


async def _repeat(place: File | Chain, verb: str, pause: float) -> None:
    while True:
        try:
            said = await (place.write() if verb == "write" else place.read())
        except (OSError, grpc.aio.AioRpcError) as error:
            said = (
                f"not yet: {error.details() if isinstance(error, grpc.aio.AioRpcError) else error}"
            )
        print(said, flush=True)
        await asyncio.sleep(pause)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


if __name__ == "__main__":
    main(sys.argv[1:])
