"""What many CosmosFullNodes at rest cost: the operator, and the same objects as dicts.

`python -m benchmarks.cosmos.holding KUBECONFIG` is the latter: it lists everything with the
standard library's JSON, says that it is done, and keeps it.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from benchmarks.cosmos.site import LISTS, Done
from benchmarks.subprocesses import module_command
from processes.usage import MEGABYTE, Usage, usage
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiRequest

PAGE = "500"
STATUS = "cosmosfullnodes/status"
REST_SECONDS = 12.0
QUIET_SHARE = 0.25
"""Of a core: what is below it for some seconds is at rest, for nodes are asked all the time."""
LONGEST_SECONDS = 180.0


class Figures(msgspec.Struct):
    """Megabytes, seconds, and writes."""

    peak: float
    dicts: float
    start: float
    """CPU until it rested."""
    core: float
    """Of one core, at rest, with every node asked."""
    writes: int
    """Beside statuses, which tell what nodes said once a minute."""


class Site:
    """The process that serves them, and what it tells of the operator."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout
        self.kubeconfig = self._out.readline().decode().strip()

    def done(self) -> Done:
        """What the operator did so far."""
        self._in.write(b"\n")
        self._in.flush()
        return msgspec.json.decode(self._out.readline(), type=Done)


def measure(count: int) -> Figures:
    """Hold so many, by the operator and as dicts."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        module_command("cosmos.site", str(count)), stdin=pipe, stdout=pipe
    ) as process:
        try:
            site = Site(process)
            dicts = _dicts(site.kubeconfig)
            return _operator(site, 3 * count, dicts)
        finally:
            process.kill()


def _operator(site: Site, pods: int, dicts: float) -> Figures:
    line = [
        sys.executable, "-m", "quintant", "operator", "cosmos", "--no-leader-elect", "--metrics=",
        "--probes=", "--log-level=error", f"--kubeconfig={site.kubeconfig}",
    ]  # fmt: skip
    with subprocess.Popen(line) as process:
        try:
            used = _rested(process.pid, lambda: site.done().connections >= pods)
            began = time.monotonic()
            time.sleep(REST_SECONDS)
            now, done = usage(process.pid), site.done()
        finally:
            process.kill()
    core = (now.cpu - used.cpu) / (time.monotonic() - began)
    writes = sum(times for what, times in done.writes.items() if what != STATUS)
    return Figures(now.peak / MEGABYTE, dicts, used.cpu, core, writes)


def _rested(pid: int, asked: Callable[[], bool]) -> Usage:
    """What a process used until it asks every node, and does nothing else."""
    last, still, ends = usage(pid), 0, time.monotonic() + LONGEST_SECONDS
    while still < 2 and time.monotonic() < ends:
        time.sleep(2)
        now = usage(pid)
        still = still + 1 if asked() and now.cpu - last.cpu < 2 * QUIET_SHARE else 0
        last = now
    return last


def _dicts(way: str) -> float:
    command = module_command("cosmos.holding", way)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            process.stdout.readline()
            return usage(process.pid).peak / MEGABYTE
        finally:
            process.kill()


async def hold(way: str) -> None:
    """List everything, and keep it."""
    held = []
    async with AsyncExitStack() as stack:
        transport = HttpTransport(Config.load(Path(way)))
        stack.push_async_callback(transport.close)
        for path in LISTS:
            query = {"limit": PAGE}
            while True:
                answer = await transport.request(ApiRequest("GET", path, query))
                page = json.loads(answer.body)
                held += page["items"]
                if not (more := page["metadata"].get("continue")):
                    break
                query = {"limit": PAGE, "continue": more}
        print(len(held), flush=True)
        await asyncio.Future()


if __name__ == "__main__":
    if os.path.isfile(sys.argv[1]):
        asyncio.run(hold(sys.argv[1]))
    else:
        print(msgspec.json.encode(measure(int(sys.argv[1]))).decode())
