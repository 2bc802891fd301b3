"""Peers of the original as processes beside an embedded cluster, and pods that stand for them.

All are on one address of this machine, as pods of the host's network are, with a port each.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Sequence
from pathlib import Path

from quintant.agents.lightpeer.rpc.channels import Channels
from quintant.api.core import Pod
from quintant.api.pod import ContainerState, ContainerStateRunning, ContainerStatus, PodStatus
from quintant.core.object import replace
from quintant.operators.klight.api import LABEL, PORT
from quintant.operators.klight.api.lightnetwork import REPAIR
from quintant.wire.lightpeer import JOIN_NETWORK, JoinRequest
from testbeds.ports import free_port
from testbeds.real_peers import NETWORK, RealPeersTestbed, query


class OriginalsTestbed:
    """Processes of the original and of ours, each with a pod that says where it is."""

    def __init__(
        self, testbed: RealPeersTestbed, original: Sequence[str], folder: Path, host: str
    ) -> None:
        self.testbed = testbed
        self.folder = folder
        self.programs = {
            "original": tuple(original),
            "ours": (sys.executable, "-m", "quintant", "agent", "lightpeer"),
        }
        self.host = host
        self.ports: dict[str, int] = {}
        self.makes: dict[str, str] = {}
        self.processes: dict[str, Process] = {}
        self.channels = Channels()

    async def close(self) -> None:
        """End every process."""
        for name in list(self.processes):
            await self.kill(name)
        await self.channels.close()

    def address(self, name: str) -> str:
        """Where a peer is."""
        return f"{self.host}:{self.ports[name]}"

    async def add(self, name: str, make: str = "original") -> str:
        """Start a peer and its pod, and wait until it is a member; where it is."""
        self.ports[name], self.makes[name] = free_port(), make
        await self.start(name)
        meta = {"name": name, "labels": {LABEL: NETWORK}}
        meta |= {"annotations": {PORT: str(self.ports[name])}}
        containers = [{"name": "lightpeer", "image": make}]
        spec = {"containers": containers, "hostNetwork": True}
        manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        await self.testbed.create(manifest)
        await self.run(name)
        await self.joined(name)
        return self.address(name)

    async def start(self, name: str) -> None:
        """Start the process of a peer, with an empty directory, and wait until it serves."""
        number = len(list(self.folder.iterdir()))
        repo = self.folder / f"{name}-{number}"
        repo.mkdir()
        flags = [f"-repo={repo}", f"-host={self.host}", f"-port={self.ports[name]}"]
        if self.makes[name] == "ours":
            flags.append(f"-advertise={self.address(name)}")
        self.processes[name] = await asyncio.create_subprocess_exec(
            *self.programs[self.makes[name]], *flags, stderr=asyncio.subprocess.DEVNULL
        )
        await self.testbed.until(lambda: self.serves(name))

    async def serves(self, name: str) -> bool:
        """Whether a peer answers a health check."""
        health = await self.testbed.peers.check(self.address(name), 1)
        return health.serves

    async def run(self, name: str, life: int = 1) -> None:
        """Have a pod run; another `life` is another incarnation of its container."""
        pod = await self.testbed.client.get(Pod, name, "default")
        container = ContainerStatus(
            name="lightpeer",
            container_id=f"test://{name}-{life}",
            restart_count=life - 1,
            state=ContainerState(running=ContainerStateRunning(started_at="2026-01-01T00:00:00Z")),
            image="lightpeer",
            image_id="lightpeer",
        )
        told = PodStatus(phase="Running", pod_ip=self.host, container_statuses=(container,))
        await self.testbed.client.set_status(pod, told)

    async def kill(self, name: str) -> None:
        """End a peer as a crash does."""
        process = self.processes.pop(name)
        process.send_signal(signal.SIGKILL)
        await process.wait()

    async def joined(self, name: str) -> None:
        """Wait until a pod is recorded as a member."""

        async def recorded() -> bool:
            return name in await self.testbed.addresses()

        await self.testbed.until(recorded)

    async def dropped(self, name: str) -> None:
        """Wait until a pod is recorded as a member no more."""

        async def gone() -> bool:
            return name not in await self.testbed.addresses()

        await self.testbed.until(gone)

    async def alike(self, count: int) -> list[bytes]:
        """Wait until all peers that run have the same, so many entries; what they have."""
        found: list[list[bytes]] = []

        async def same() -> bool:
            found[:] = [await query(self.address(name)) for name in self.processes]
            return all(each == found[0] for each in found) and len(found[0]) == count

        await self.testbed.until(same)
        return found[0]

    async def wipe(self) -> None:
        """Take every record off the pods."""
        for pod in await self.testbed.client.list(Pod, "default"):
            kept = {PORT: pod.metadata.annotations[PORT]}
            wiped = replace(pod, metadata=replace(pod.metadata, annotations=kept))
            await self.testbed.client.patch(wiped, since=pod)

    async def join_again(self, name: str, contact: str) -> None:
        """Do what a careless controller does."""
        asked = JoinRequest(self.address(contact))
        await self.channels.ask(self.address(name), JOIN_NETWORK, asked, seconds=10, metadata={})

    async def ask_for_repair(self, word: str) -> None:
        """Ask for a repair of the network, and wait until it was done."""
        shown = await self.testbed.shown()
        meta = replace(shown.metadata, annotations={REPAIR: word})
        await self.testbed.client.patch(replace(shown, metadata=meta), since=shown)

        async def handled() -> bool:
            status = (await self.testbed.shown()).status
            return status is not None and status.repair_handled == word

        await self.testbed.until(handled)
