"""Machines of a small cloud that are processes here: each one is a real `quintant up`.

A machine has an address of its own on loopback. It starts from a copy of a `Seed`, the data of a
cluster that ran before, so whoever wrote a template knows the way in, but for the address, before
the machine is there.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from pathlib import Path

import patience
from quintant.cluster.kubelet.process.die_with_parent import die_with_parent

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


@dataclass
class Machine:
    """One cluster at an address, as a process."""

    address: str
    folder: Path
    options: tuple[str, ...] = ()
    """More words for `quintant up`."""
    _process: Process | None = field(default=None, repr=False)

    @classmethod
    def of(cls, seed: Seed, address: str, folder: Path, *options: str) -> Machine:
        """One that has the keys of a seed."""
        shutil.copytree(seed.folder, folder)
        return cls(address, folder, options)

    @property
    def pid(self) -> int:
        """Of the process; 0 if there is none."""
        return 0 if self._process is None else self._process.pid

    async def start(self) -> None:
        """Start it, without waiting for anything."""
        listen = f"{self.address}:{PORT}"
        command = (sys.executable, "-m", "quintant", "up", "--listen", listen, "--no-node")
        self._process = await asyncio.create_subprocess_exec(
            *die_with_parent((*command, "--data-dir", str(self.folder), *self.options)),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
        )

    async def ready(self) -> None:
        """Wait until its API server serves."""
        assert self._process is not None
        assert self._process.stdout is not None
        async with patience.within(UP_SECONDS):
            while line := await self._process.stdout.readline():
                if line.startswith(_READY):
                    return
        raise AssertionError(f"the machine at {self.address} has ended")

    async def stop(self) -> None:
        """End it, politely first."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(patience.seconds(GRACE_SECONDS)):
                # Its output is read to the end, as a full pipe would keep it from ending.
                await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
