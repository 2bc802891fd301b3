"""A manager whose reconcile of the ConfigMap "blocks" holds up the event loop: run as a program.

Arguments: the port of its probes, its grace in seconds, for how long it blocks, and which loop.
"""

from __future__ import annotations

import asyncio
import sys
import time

from quintant import Context, Manager
from quintant.api.core import ConfigMap
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import Random, SystemClock
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.loops import loop_factory
from quintant.runtime.observe import logs
from quintant.testing import named

PORT, GRACE, BLOCKS, LOOP = sys.argv[1:]

calm = asyncio.Event()


def hold_everything_up() -> None:
    print("blocking", flush=True)
    time.sleep(float(BLOCKS))
    print("free", flush=True)


async def reconcile(config: ConfigMap, ctx: Context[ConfigMap]) -> None:
    if config.metadata.name == "calm":
        calm.set()
        await asyncio.Event().wait()
    await calm.wait()
    hold_everything_up()


async def fill(client: Client) -> None:
    for name in ("calm", "blocks"):
        await client.create(ConfigMap(metadata=named(name)))
    await asyncio.Event().wait()


async def main() -> int:
    server = ApiServer(clock=SystemClock(), random=Random(1))
    server.tokens.add("admin", admin())
    transport = InProcessTransport(server, "admin")
    manager = Manager(
        "blocked",
        metrics="",
        probes=f"127.0.0.1:{PORT}",
        grace=float(GRACE),
        namespaces=["default"],
    )
    manager.controls(ConfigMap, name="holder").reconcile(reconcile)
    manager.add(fill)
    return await manager.main(Environment(transport, listen=True))


if __name__ == "__main__":
    logs.configure(format="json")
    with asyncio.Runner(loop_factory=loop_factory() if LOOP == "fast" else None) as runner:
        sys.exit(runner.run(main()))
