"""A pod's place on this node: its sandbox and its volumes, and what is done there.

Between the agent (quintant.cluster.kubelet.agent), which knows pods by their keys and tells the
world, and the sandbox, which knows one pod's containers: a place mounts what the pod refers to
before any container starts, gives it its orders, and says when to look again.
"""

from __future__ import annotations

import math

from quintant.api.pod import Pod
from quintant.cluster.kubelet.container.env import Sources
from quintant.cluster.kubelet.pod.plan import Plan, Stage
from quintant.cluster.kubelet.pod.sandbox import Sandbox
from quintant.cluster.kubelet.pod.termination import deadline, forced, ordered
from quintant.cluster.kubelet.volume.manager import Mounting
from quintant.cluster.kubelet.volume.projected import Unmountable
from quintant.cluster.kubelet.volume.references import Name, References, names, read
from quintant.runtime.cache.client import Client

RETRY_SECONDS = 2.0
"""How soon a volume that could not be set up is tried again; changes come sooner."""


class Place:
    """A pod on this node."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.names: frozenset[Name] = names(sandbox.pod.spec)
        """What the pod refers to."""
        self._mounting = Mounting(sandbox)
        self._mounted = False
        """Whether all volumes were there once: containers may start."""
        self._complaint = ""

    async def tend(self, pod: Pod, client: Client) -> float:
        """Bring this machine in line with the pod as it is now; when to look again."""
        self.sandbox.pod = pod
        self._command()
        found = await read(client, pod.spec, pod.metadata.namespace)
        if not await self._mount(client, found):
            return self.sandbox.ground.now().mono + RETRY_SECONDS
        plan = await self.sandbox.advance(found.sources(self.sandbox.ground.api), found.versions)
        if plan.stage is Stage.OVER:
            self.sandbox.finish()
            return math.inf
        return plan.wake if self.sandbox.order is not None else min(plan.wake, self._due())

    async def dismiss(self) -> Plan:
        """Have a pod end that the API knows no more."""
        sandbox = self.sandbox
        sandbox.order = forced(sandbox.pod, sandbox.order, sandbox.ground.now())
        return await sandbox.advance(Sources(sandbox.ground.api), None)

    def _command(self) -> None:
        """Order a pod to end that is being deleted, or whose time is up."""
        sandbox = self.sandbox
        if sandbox.finished:
            return
        before = sandbox.order
        sandbox.order = ordered(sandbox.pod, before, sandbox.since, sandbox.ground.now())
        if before is None and sandbox.order is not None and sandbox.order.reason:
            sandbox.note("Normal", sandbox.order.reason, sandbox.order.message)

    async def _mount(self, client: Client, found: References) -> bool:
        """Set up the volumes of a pod that goes on; whether its containers may start."""
        if self.sandbox.order is not None or self.sandbox.finished:
            return True
        try:
            await self._mounting.mount(client, found)
            self._mounted = True
        except Unmountable as error:
            self._complain(str(error))
        return self._mounted

    def _complain(self, text: str) -> None:
        if self._complaint != text:
            self._complaint = text
            self.sandbox.note("Warning", "FailedMount", text)

    def _due(self) -> float:
        """When something is to be renewed, or the time is up."""
        sandbox = self.sandbox
        return min(self._mounting.due, deadline(sandbox.pod, sandbox.since, sandbox.ground.now()))
