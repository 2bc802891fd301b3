"""`quintant run` as a child process: started, asked over its own ports, measured and stopped."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sysconfig
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import psutil
from prometheus_client.parser import text_string_to_metric_families

import patience
from foreign.process import free_ports
from quintant.die_with_parent import die_with_parent

QUINTANT = Path(sysconfig.get_path("scripts")) / "quintant"
# How often a child is asked whether it is ready, and for how long; a busy machine is slow.
POLL_SECONDS, START_SECONDS = 0.05, 60.0
STOP_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Program:
    """A controller program that runs."""

    process: subprocess.Popen[bytes]
    url: str
    """Where its probes and metrics are."""

    async def ready(self) -> None:
        """Wait until its readiness probe says so."""
        await self._until(lambda: self._answers("readyz"))

    async def sample(self, name: str, **labels: str) -> float:
        """The value of one of its metrics; 0 if there is none."""
        async with aiohttp.request("GET", f"{self.url}/metrics") as answer:
            families = text_string_to_metric_families(await answer.text())
        samples = [sample for family in families for sample in family.samples]
        found = [one.value for one in samples if (one.name, one.labels) == (name, labels)]
        return found[0] if found else 0.0

    async def counted(self, name: str, least: float, **labels: str) -> None:
        """Wait until one of its metrics is at least so high."""

        async def enough() -> bool:
            return await self.sample(name, **labels) >= least

        await self._until(enough)

    async def stop(self) -> int:
        """Ask it to stop, as the kubelet does; returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.to_thread(self.process.wait, patience.seconds(STOP_SECONDS))

    @property
    def memory(self) -> int:
        """Its resident bytes."""
        return int(psutil.Process(self.process.pid).memory_info().rss)

    @property
    def peak(self) -> int:
        """The most resident bytes it ever had, as Linux remembers it."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        (kilobytes,) = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
        return int(kilobytes) * 1024

    async def _until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        """Ask again and again: another process cannot wake us."""
        async with patience.within(START_SECONDS):
            while not await condition():
                assert self.process.poll() is None, "the program has ended"
                await asyncio.sleep(POLL_SECONDS)

    async def _answers(self, path: str) -> bool:
        try:
            async with aiohttp.request("GET", f"{self.url}/{path}") as answer:
                return answer.ok
        except aiohttp.ClientConnectionError:
            return False


@contextmanager
def running(file: Path, kubeconfig: Path, *options: str) -> Iterator[Program]:
    """Run the controllers of a file against a cluster; killed at the end if it still runs."""
    (port,) = free_ports(1)
    ports = ("--metrics", f"127.0.0.1:{port}", "--probes", f"127.0.0.1:{port}")
    command = (str(QUINTANT), "run", str(file), "--kubeconfig", str(kubeconfig), *ports, *options)
    with subprocess.Popen(die_with_parent(command)) as process:
        try:
            yield Program(process, f"http://127.0.0.1:{port}")
        finally:
            process.kill()
