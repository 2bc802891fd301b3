"""Several processes of one machine: a parent, its children, and an API server, all of them real."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest

import patience
from examples_support import EXAMPLES, load_example
from quintant import Config
from quintant.api.coordination import Lease
from quintant.api.core import ConfigMap
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.core.clock import SystemClock
from quintant.runtime.cache.client import Client
from quintant.runtime.shard.group_report import GroupReport, report
from quintant.testing import named
from scenarios.program import POLL_SECONDS, QUINTANT, Program, running
from scenarios.server import served
from scenarios.soak_size import sized
from testbeds.ports import free_port
from testbeds.watched_history import WatchedHistory

pytestmark = [
    pytest.mark.realtime,
    pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends children with the parent"),
]

SHARDS = EXAMPLES / "09_shards.py"
example = load_example("09_shards")
Order = example.Order
RANGES = 128
ORDERS = sized(1000)
WORDS = ("--processes", "2", "--install-crds")
MOVE_SECONDS = 20.0
"""Until ranges have moved, on a quiet machine."""
KERNEL_SECONDS = 2.0
"""The kernel tells children at once; what they log into a broken pipe ends them only later."""


def children(program: Program) -> list[psutil.Process]:
    """The processes that a parent has started, by their age."""
    found = psutil.Process(program.process.pid).children()
    return sorted(found, key=lambda process: process.create_time())


async def until(seconds: float, condition: Callable[[], Awaitable[bool]]) -> None:
    async with patience.within(seconds):
        while True:
            if await condition():
                return
            await asyncio.sleep(POLL_SECONDS)


def all_gone(processes: Sequence[psutil.Process]) -> bool:
    return not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in processes)


@asynccontextmanager
async def a_client(kubeconfig: Path) -> AsyncIterator[Client]:
    transport = HttpTransport(Config.load(kubeconfig))
    try:
        yield Client(Rest(transport))
    finally:
        await transport.close()


@asynccontextmanager
async def followed(
    client: Client,
) -> AsyncIterator[tuple[WatchedHistory[Any], WatchedHistory[ConfigMap]]]:
    """Everything that becomes of orders and of their ConfigMaps."""
    histories = [WatchedHistory(kind, "default", (), "0") for kind in (Order, ConfigMap)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(history.follow(client)) for history in histories]
        try:
            yield histories[0], histories[1]
        finally:
            for task in tasks:
                task.cancel()


async def shards(client: Client) -> GroupReport:
    """What `quintant shards orders` shows."""
    leases = await client.list(Lease, live=True)
    return report("orders", "default", leases, SystemClock().now())


async def create_orders(client: Client, names: Sequence[str]) -> None:
    for name in names:
        spec = example.OrderSpec(amounts=[1, 2])
        await client.create(Order(metadata=named(name), spec=spec))


def current(orders: WatchedHistory[Any], names: Sequence[str]) -> bool:
    done = {
        order.metadata.name
        for _, order in orders.events
        if order.status is not None and order.status.total == 3
    }
    return done >= set(names)


async def test_a_child_that_is_killed_loses_no_order_and_no_order_is_written_twice(
    tmp_path: Path,
) -> None:
    before = [f"before-{number}" for number in range(ORDERS)]
    after = [f"after-{number}" for number in range(ORDERS)]
    with served(tmp_path) as server, running(SHARDS, server.kubeconfig, *WORDS) as program:
        await program.ready()
        for process in "01":
            labels = {"process": process, "state": "held"}
            await program.counted("quintant_shard_ranges", RANGES // 2, **labels)
        async with a_client(server.kubeconfig) as client, followed(client) as (orders, bills):
            await create_orders(client, before)

            async def first_done() -> bool:
                return current(orders, before)

            await until(MOVE_SECONDS, first_done)
            killed, _ = children(program)
            killed.kill()
            await create_orders(client, after)

            async def all_done() -> bool:
                return current(orders, [*before, *after])

            await until(MOVE_SECONDS, all_done)
            labels = {"process": "0"}
            await program.counted("quintant_process_restarts_total", 1, **labels)
            await program.ready()

            async def divided_again() -> bool:
                ready = [m for m in (await shards(client)).members if m.state == "ready"]
                return sorted(len(m.held) for m in ready) == [RANGES // 2, RANGES // 2 + 1]

            await until(MOVE_SECONDS, divided_again)
            writes = Counter(order.metadata.name for _, order in orders.events)
            made = Counter(bill.metadata.name for _, bill in bills.events)
        # A creation and a status; and a bill is made once.
        assert writes == dict.fromkeys([*before, *after], 2)
        assert made == dict.fromkeys([*before, *after], 1)

        left = children(program)
        assert len(left) == 2
        assert await program.stop() == 0
        assert all_gone(left)


async def test_nothing_is_left_of_a_parent_that_is_killed(tmp_path: Path) -> None:
    with served(tmp_path) as server, running(SHARDS, server.kubeconfig, *WORDS) as program:
        await program.ready()
        left = children(program)
        assert len(left) == 2
        program.process.kill()

        async def gone() -> bool:
            return all_gone(left)

        await until(KERNEL_SECONDS, gone)


async def test_a_second_signal_ends_children_that_do_not_stop(tmp_path: Path) -> None:
    with served(tmp_path) as server, running(SHARDS, server.kubeconfig, *WORDS) as program:
        await program.ready()
        left = children(program)
        left[0].suspend()
        program.process.send_signal(signal.SIGINT)
        async with aiohttp.ClientSession() as http:

            async def is_stopping() -> bool:
                with suppress(aiohttp.ClientError):
                    async with http.get(f"{program.url}/readyz") as answer:
                        return "the process is stopping" in await answer.text()
                return False

            await until(MOVE_SECONDS, is_stopping)
        assert await program.stop() == 1
        assert all_gone(left)


@pytest.mark.parametrize(
    ("file", "words", "first", "try_"),
    [
        ("09_shards.py", ["--processes", "none"], "'none' is no number of processes", "auto"),
        ("01_greeter.py", ["--processes", "2"], "cannot have several processes", "shards=True"),
        ("09_shards.py", ["--processes", "2", "--probes", "TAKEN"], "cannot listen on", "port"),
    ],
)
def test_what_cannot_be_is_said_in_three_lines(
    tmp_path: Path, file: str, words: list[str], first: str, try_: str
) -> None:
    with served(tmp_path) as server:
        taken = psutil.Process(server.process.pid).net_connections("tcp")[0].laddr.port
        words = [word.replace("TAKEN", f"127.0.0.1:{taken}") for word in words]
        free = ["--metrics", f"127.0.0.1:{free_port()}"]
        command = [str(QUINTANT), "run", str(EXAMPLES / file), *free, *words]
        environ = {**os.environ, "KUBECONFIG": str(server.kubeconfig)}
        ended = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    what, because, hint = ended.stderr.splitlines()
    assert first in what
    assert because.startswith("because: ")
    assert hint.startswith("try: ")
    assert try_ in hint
