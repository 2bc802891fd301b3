"""podWorkers: the worker of one pod: its sandbox and its volumes.

Between the kubelet (quintant.cluster.kubelet.kubelet), which knows pods by their keys and reports
their status, and the sandbox, which knows one pod's containers: a worker mounts what the pod refers
to before any container starts, terminates the pod in time, and says when to look again.
"""

from __future__ import annotations

import math

from quintant.api.pod import Pod
from quintant.cluster.kubelet.container.env import EnvSources
from quintant.cluster.kubelet.pod.plan import PodActions, PodStage
from quintant.cluster.kubelet.pod.sandbox import Sandbox
from quintant.cluster.kubelet.pod.termination import (
    active_deadline,
    forced_termination,
    termination_for,
)
from quintant.cluster.kubelet.volume.manager import VolumeManager
from quintant.cluster.kubelet.volume.projected import MountError
from quintant.cluster.kubelet.volume.references import (
    Name,
    References,
    read_references,
    referenced_names,
)
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.overlay import version_precedes

RETRY_SECONDS = 2.0
"""How soon a volume that could not be set up is tried again; changes come sooner."""


class PodWorker:
    """A pod on this node."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.names: frozenset[Name] = referenced_names(sandbox.pod.spec)
        """What the pod refers to."""
        self._volumes = VolumeManager(sandbox)
        self._mounted = False
        """Whether all volumes were there once: containers may start."""
        self._complaint = ""

    def is_ahead_of(self, pod: Pod) -> bool:
        """Whether the pod is older than what was worked on: the cluster was restored."""
        known = self.sandbox.pod.metadata
        return version_precedes(pod.metadata.resource_version, known.resource_version)

    async def sync(self, pod: Pod, client: Client) -> float:
        """Bring this machine in line with the pod as it is now; when to look again."""
        self.sandbox.update_pod(pod)
        self.names = referenced_names(pod.spec)
        self._update_termination()
        found = await read_references(client, pod.spec, pod.metadata.namespace)
        if not await self._mount(client, found):
            return self.sandbox.node.now().mono + RETRY_SECONDS
        plan = await self.sandbox.advance(found.sources(self.sandbox.node.api), found.versions)
        if plan.stage is PodStage.OVER:
            self.sandbox.finish()
            return math.inf
        return (
            plan.wake_at
            if self.sandbox.termination is not None
            else min(plan.wake_at, self._next_refresh())
        )

    async def terminate(self) -> PodActions:
        """Have a pod end that the API knows no more."""
        sandbox = self.sandbox
        sandbox.termination = forced_termination(
            sandbox.pod, sandbox.termination, sandbox.node.now()
        )
        return await sandbox.advance(EnvSources(sandbox.node.api), None)

    def _update_termination(self) -> None:
        """Order a pod to end that is being deleted, or whose time is up."""
        sandbox = self.sandbox
        if sandbox.finished:
            return
        before = sandbox.termination
        sandbox.termination = termination_for(
            sandbox.pod, before, sandbox.since, sandbox.node.now()
        )
        if before is None and sandbox.termination is not None and sandbox.termination.reason:
            sandbox.add_event("Normal", sandbox.termination.reason, sandbox.termination.message)

    async def _mount(self, client: Client, references: References) -> bool:
        """Set up the volumes of a pod that goes on; whether its containers may start."""
        if self.sandbox.termination is not None or self.sandbox.finished:
            return True
        try:
            await self._volumes.mount(client, references)
            self._mounted = True
        except MountError as error:
            self._warn_mount(str(error))
        return self._mounted

    def _warn_mount(self, text: str) -> None:
        if self._complaint != text:
            self._complaint = text
            self.sandbox.add_event("Warning", "FailedMount", text)

    def _next_refresh(self) -> float:
        """When something is to be renewed, or the time is up."""
        sandbox = self.sandbox
        return min(
            self._volumes.due, active_deadline(sandbox.pod, sandbox.since, sandbox.node.now())
        )
