"""Machines of a small cloud that are processes here: each one is a real `quintant up`.

A machine has an address of its own on loopback. It starts from a copy of a `Seed`, the data of a
cluster that ran before, so whoever wrote a template knows the way in, but for the address, before
the machine is there. Machines that join it are nodes of its cluster, simulated ones.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

import patience
from quintant import Client, Config
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.cluster.common.labels import SIMULATED
from quintant.die_with_parent import die_with_parent

PORT = 6443
# Beside the addresses of clusters (quintant.cluster.host.loopback), one /24 for each testbed.
NETWORKS = tuple(IPv4Network("127.150.0.0/16").subnets(new_prefix=24))
# Bound for as long as a network is somebody's.
LOCK_PORT = 42424
UP_SECONDS = 20.0
GRACE_SECONDS = 10.0
_READY = b"export KUBECONFIG="


@contextmanager
def claim_network() -> Iterator[IPv4Network]:
    """Addresses that no other testbed of this machine has, for as long as the context lasts."""
    for network in NETWORKS:
        with socket.socket() as lock:
            try:
                lock.bind((str(network[-2]), LOCK_PORT))
            except OSError:
                continue
            yield network
            return
    raise RuntimeError("every network for machines is taken")


@dataclass(frozen=True)
class Seed:
    """The data of a cluster, from which others with the same keys begin."""

    folder: Path
    address: str

    @property
    def kubeconfig(self) -> str:
        """The way in, at the seed's own address."""
        return (self.folder / "kubeconfig").read_text()

    @property
    def parts(self) -> tuple[str, str]:
        """The way in, without its address: what stands before and behind it."""
        before, after = self.kubeconfig.split(self.address)
        return before, after


async def make_seed(folder: Path, network: IPv4Network) -> Seed:
    """Run a cluster for a moment and keep its data; two seconds or so."""
    seed = Seed(folder, str(network[1]))
    machine = Machine(seed.address, folder)
    await machine.start()
    await machine.ready()
    await machine.stop()
    return seed


class Machine:
    """One cluster at an address, as a process; its nodes are the machines that joined it."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address, self.folder = address, folder
        self._process: Process | None = None
        self._output: asyncio.Task[None] | None = None
        self._serving = asyncio.Event()

    @classmethod
    def of(cls, seed: Seed, address: str, folder: Path) -> Machine:
        """One that has the keys of a seed."""
        shutil.copytree(seed.folder, folder)
        return cls(address, folder)

    @property
    def pid(self) -> int:
        """Of the process; 0 if there is none."""
        return 0 if self._process is None else self._process.pid

    async def start(self) -> None:
        """Start it, without waiting for anything."""
        listen = f"{self.address}:{PORT}"
        command = (sys.executable, "-m", "quintant", "up", "--listen", listen, "--no-node")
        self._process = await asyncio.create_subprocess_exec(
            *die_with_parent((*command, "--data-dir", str(self.folder))),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
        )
        self._output = asyncio.ensure_future(self._read(self._process))

    async def ready(self) -> None:
        """Wait until its API server serves."""
        async with patience.within(UP_SECONDS):
            await self._serving.wait()

    async def join(self, name: str) -> None:
        """Make a machine a node of this cluster; no pod really runs there."""
        await self.ready()
        capacity = {"cpu": "2", "memory": "2Gi", "pods": "20"}
        node = {
            "metadata": {"name": name, "labels": {SIMULATED: "true"}},
            "status": {"capacity": capacity, "allocatable": capacity},
        }
        async with self.client() as client:
            await client.raw("POST", "/api/v1/nodes", body=json.dumps(node).encode())

    async def leave(self, name: str) -> None:
        """Take a node away."""
        async with self.client() as client:
            await client.raw("DELETE", f"/api/v1/nodes/{name}")

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """A client of its API server, as the administrator."""
        transport = HttpTransport(Config.load(self.folder / "kubeconfig"))
        try:
            yield Client(Rest(transport), manager="tests")
        finally:
            await transport.close()

    async def stop(self) -> None:
        """End it, politely first."""
        process, self._process = self._process, None
        if process is None or self._output is None:
            return
        if process.returncode is None:
            process.terminate()
        try:
            async with asyncio.timeout(patience.seconds(GRACE_SECONDS)):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        await self._output

    async def _read(self, process: Process) -> None:
        """Read its output to the end, as a full pipe would stop it."""
        assert process.stdout is not None
        while line := await process.stdout.readline():
            if line.startswith(_READY):
                self._serving.set()
