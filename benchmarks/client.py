"""What one small request over TLS costs the client."""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

import msgspec

from benchmarks.envtest_server import envtest_server
from benchmarks.report import Table, times
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer

WARM = 50
METHOD = (
    "{count:,} GETs of one Namespace, one after the other on one kept-alive TLS connection to a "
    "real API server, decoded to a typed object, uvloop; CPU of the client's process per request. "
    "Quintant is its typed client, with retries, metrics and credentials."
)


class Figures(msgspec.Struct):
    """What one request costs."""

    microseconds: float


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure each client."""
    figures: dict[str, Figures] = {}
    with envtest_server(sizes) as server:
        for name in WAYS:
            say(f"client: {name}")
            figures[name] = answer("client", name, str(sizes.requests), to=Figures, env=server.env)
    least = min(each.microseconds for each in figures.values())
    yield Table(
        "A small GET",
        METHOD.format(count=sizes.requests),
        ("", "CPU", ""),
        [
            (name, f"{each.microseconds:.0f} µs", times(each.microseconds, least))
            for name, each in figures.items()
        ],
    )


async def _quintant(count: int) -> Figures:
    from quintant.api.core import Namespace
    from quintant.client.config.config import Config
    from quintant.client.http.transport import HttpTransport
    from quintant.client.rest import Rest
    from quintant.client.retry import with_retries
    from quintant.runtime.cache.client import Client
    from quintant.runtime.observe.metrics import Metrics

    transport = HttpTransport(Config.discover())
    client = Client(Rest(with_retries(transport), Metrics().rest("kubernetes")))

    async def get() -> None:
        await client.get(Namespace, NAME, live=True)

    try:
        return await _measure(get, count)
    finally:
        await transport.close()


async def _aiohttp(count: int) -> Figures:
    from benchmarks.operators.session import session
    from benchmarks.operators.with_aiohttp import Thing

    decoder = msgspec.json.Decoder(Thing)
    async with session() as http:

        async def get() -> None:
            async with http.get(f"/api/v1/namespaces/{NAME}") as response:
                response.raise_for_status()
                decoder.decode(await response.read())

        return await _measure(get, count)


# The namespace that every cluster has.
NAME = "default"
WAYS: dict[str, Callable[[int], Coroutine[Any, Any, Figures]]] = {
    "Quintant": _quintant,
    "aiohttp and msgspec": _aiohttp,
}


async def _measure(get: Callable[[], Awaitable[None]], count: int) -> Figures:
    for _ in range(WARM):
        await get()
    began = time.process_time()
    for _ in range(count):
        await get()
    return Figures((time.process_time() - began) / count * 1e6)


if __name__ == "__main__":
    import uvloop

    way, count = sys.argv[1:]
    print(msgspec.json.encode(uvloop.run(WAYS[way](int(count)))).decode())
