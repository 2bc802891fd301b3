"""A snapshot of a running cluster, and a restore of it: how long, and how long others wait."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

import msgspec

from benchmarks.embedded import embedded
from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer

if TYPE_CHECKING:
    from quintant.client.transport import ApiResponse
    from quintant.runtime.cache.client import Client

PATH = "/quintant/v1/snapshot"
ROUNDS = 3
WRITERS = 16
PAUSE_SECONDS = 0.005
"""Between two reads of who watches how long others wait."""
METHOD = (
    f"`quintant up` with {{count:,}} ConfigMaps of 500 bytes; the best of {ROUNDS}. A snapshot is "
    "taken and a restore is made over TLS, as `quintant snapshot` and `restore` do; a restore has "
    "all components of the cluster at work again when it is answered. Meanwhile another client "
    "reads one object again and again: `others wait` is its slowest read."
)
MOST_SECONDS = 1.0


class Taken(msgspec.Struct):
    """What a client saw."""

    snapshot: float
    snapshot_wait: float
    restore: float
    restore_wait: float
    size: int


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure one cluster."""
    say(f"snapshot: {sizes.stored:,} objects")
    with embedded() as target:
        env = {"KUBECONFIG": str(target.kubeconfig)}
        found = answer("snapshot", str(sizes.stored), to=Taken, env=env)
    yield Table(
        f"A snapshot of {sizes.stored:,} objects, and back",
        METHOD.format(count=sizes.stored),
        ("", "seconds", "others wait", "size"),
        [
            (
                "snapshot",
                f"{found.snapshot:.2f} s",
                f"{1_000 * found.snapshot_wait:.0f} ms",
                f"{found.size / 1e6:.1f} MB",
            ),
            ("restore", f"{found.restore:.2f} s", f"{1_000 * found.restore_wait:.0f} ms", ""),
        ],
        [
            Budget(f"{name} within a second", f"{seconds:.2f} s", seconds <= MOST_SECONDS)
            for name, seconds in (("snapshot", found.snapshot), ("restore", found.restore))
        ],
    )


async def _measure(count: int) -> Taken:
    from quintant.api.core import ConfigMap
    from quintant.client.config.config import Config
    from quintant.client.http.transport import HttpTransport
    from quintant.client.rest import Rest
    from quintant.client.transport import ApiRequest
    from quintant.core.object import ObjectMeta
    from quintant.runtime.cache.client import Client

    transport = HttpTransport(Config.discover())
    client = Client(Rest(transport))

    async def write(names: Iterator[int]) -> None:
        for number in names:
            meta = ObjectMeta(name=f"bench-{number}", namespace="default")
            await client.create(ConfigMap(metadata=meta, data={"text": "x" * 500}))

    async def save() -> ApiResponse:
        return await transport.request(ApiRequest("GET", PATH))

    names = iter(range(count))
    async with asyncio.TaskGroup() as writers:
        for _ in range(WRITERS):
            writers.create_task(write(names))
    saves = [await _timed(save, client) for _ in range(ROUNDS)]
    raw = saves[-1][2].body

    async def restore() -> ApiResponse:
        return await transport.request(ApiRequest("PUT", PATH, body=raw))

    restores = [await _timed(restore, client) for _ in range(ROUNDS)]
    await transport.close()
    assert all(each[2].status == 200 for each in (*saves, *restores)), "each one worked"
    (saved, save_wait), (restored, restore_wait) = (
        min((seconds, wait) for seconds, wait, _ in rounds) for rounds in (saves, restores)
    )
    return Taken(saved, save_wait, restored, restore_wait, len(raw))


async def _timed(
    act: Callable[[], Awaitable[ApiResponse]], client: Client
) -> tuple[float, float, ApiResponse]:
    """How long it takes, and how long the slowest read of another took meanwhile."""
    from quintant.api.core import ConfigMap

    slowest = 0.0

    async def read() -> None:
        nonlocal slowest
        while True:
            began = time.monotonic()
            await client.get(ConfigMap, "bench-0", "default")
            slowest = max(slowest, time.monotonic() - began)
            await asyncio.sleep(PAUSE_SECONDS)

    reading = asyncio.ensure_future(read())
    began = time.monotonic()
    found = await act()
    seconds = time.monotonic() - began
    reading.cancel()
    await asyncio.wait({reading})
    return seconds, slowest, found


if __name__ == "__main__":
    print(msgspec.json.encode(asyncio.run(_measure(int(sys.argv[1])))).decode())
