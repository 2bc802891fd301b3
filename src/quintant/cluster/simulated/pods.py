"""KWOK PodController: one stage of a simulated pod after the other, while its node is up.

A pod is simulated if its node is, or if its node runs processes and no program stands for one of
its images. Other nodes are somebody else's, and their pods are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from ipaddress import IPv4Network

from msgspec import Struct

from quintant.api.core import Pod
from quintant.api.events import EventType
from quintant.client.rest import APPLY
from quintant.cluster.common.labels import POD, is_simulated, runs_processes
from quintant.cluster.common.node_faults import NodeFault, fault_of
from quintant.cluster.common.pod_ips import PodIPs
from quintant.cluster.simulated.fleet import host_ip
from quintant.cluster.simulated.pod_status import (
    NO_MACHINE,
    NO_PROGRAM,
    REBOOT,
    UNCHANGED,
    PodPlacement,
    next_status,
    overruled,
    unobserved,
)
from quintant.cluster.simulated.stages import Stage, StageNext, Stages
from quintant.cluster.simulated.views import SimNode, SimPod, SimPodStatus
from quintant.core import codec
from quintant.core.clock import monotonic
from quintant.core.errors import NotFound
from quintant.core.object import Request
from quintant.core.resource import resource_of
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result

_HEADERS = {"content-type": APPLY}

Locate = Callable[[str, Sequence[str]], object | None]
"""The program that stands for an image and a command, if there is one."""


class StageDeadline(Struct, frozen=True):
    """When the stage of a pod ends."""

    stage: Stage
    restarts: int
    at: float


class PodController:
    """Leads simulated pods through their stages."""

    def __init__(
        self, stages: Stages, locate: Locate, real: str, host: str, network: IPv4Network
    ) -> None:
        self._stages, self._locate = stages, locate
        self._real, self._host = real, host
        self._due: dict[Request, StageDeadline] = {}
        self._off: dict[Request, str] = {}
        """The pods whose node is off, and their uids."""
        self._addresses = PodIPs(network)
        self._given: dict[Request, str] = {}
        self._learned = False
        """Whether it is known which addresses pods of an earlier run have."""
        self._node_of: dict[Request, str] = {}
        self._on: dict[str, dict[Request, None]] = {}
        """The node of each pod that is led, and the pods of each node."""

    async def __call__(self, request: Request, ctx: KeyContext) -> Result | None:
        """Lead a pod on. Keys, for a pod that is being deleted has a stage, too."""
        if not self._learned:
            self._restore_addresses(await ctx.client.list(SimPod))
        pod = await ctx.client.find(SimPod, request.name, request.namespace)
        if pod is None:
            self._forget(request)
            return None
        name = pod.spec.node_name
        if not name:
            return None
        self._node_of[request] = name
        self._on.setdefault(name, {})[request] = None
        node = await ctx.client.find(SimNode, name)
        if node is None or not self._is_simulated_pod(pod, node) or self._is_silent(pod, node):
            return None
        if self._rebooted(pod):
            await self._write_status(pod, node, REBOOT, ctx)
            return None
        if (node.ready and overruled(pod)) or unobserved(pod):
            await self._write_status(pod, node, UNCHANGED, ctx)
            return None
        stage = self._stages.stage_of(pod)
        if stage is None or stage.next is None:
            return None
        return await self._advance(pod, node, stage, stage.next, ctx)

    def pods_on(self, node: SimNode) -> Iterable[Request]:
        """The pods that are led on a node."""
        return tuple(self._on.get(node.metadata.name, ()))

    def _restore_addresses(self, pods: Iterable[SimPod]) -> None:
        self._learned = True
        for pod in pods:
            if pod.status.pod_ip and POD in pod.metadata.annotations and not pod.spec.host_network:
                self._given[pod.key] = self._addresses.take(pod.status.pod_ip)

    def _forget(self, key: Request) -> None:
        self._due.pop(key, None)
        self._off.pop(key, None)
        self._addresses.free(self._given.pop(key, ""))
        node = self._node_of.pop(key, "")
        on = self._on.get(node, {})
        on.pop(key, None)
        if not on:
            self._on.pop(node, None)

    def _is_simulated_pod(self, pod: SimPod, node: SimNode) -> bool:
        if is_simulated(node.metadata.labels):
            return True
        containers = (*pod.spec.init_containers, *pod.spec.containers)
        run = all(self._locate(each.image, each.command) for each in containers)
        return self._runs_processes(node) and not run

    def _runs_processes(self, node: SimNode) -> bool:
        return node.metadata.name == self._real or runs_processes(node.metadata.labels)

    def _is_silent(self, pod: SimPod, node: SimNode) -> bool:
        """Whether nothing is heard of a pod's node; its stage begins anew when it is back."""
        fault = fault_of(node)
        if fault.silent:
            self._due.pop(pod.key, None)
        if fault is NodeFault.DEAD:
            self._off[pod.key] = pod.metadata.uid
        return fault.silent

    def _rebooted(self, pod: SimPod) -> bool:
        """Whether a pod's node was off and is on again."""
        if self._off.pop(pod.key, "") != pod.metadata.uid:
            return False
        return pod.first is not None and pod.first.state.running is not None and not pod.deleting

    async def _advance(
        self, pod: SimPod, node: SimNode, stage: Stage, step: StageNext, ctx: KeyContext
    ) -> Result | None:
        due, now = self._due.get(pod.key), monotonic()
        if due is None or due.stage != stage or due.restarts != pod.restarts:
            seconds = stage.delay_seconds(pod.restarts, ctx.random)
            due = self._due[pod.key] = StageDeadline(stage, pod.restarts, now + seconds)
        if due.at > now:
            return Result(after=due.at - now)
        del self._due[pod.key]
        if step.delete:
            await self._delete(pod, ctx)
        else:
            await self._write_status(pod, node, step, ctx)
        if stage.event is not None:
            event = stage.event
            kind: EventType = "Normal" if event.type == "Normal" else "Warning"
            ctx.event(pod, event.reason, event.message, type=kind)
        return None

    async def _write_status(
        self, pod: SimPod, node: SimNode, step: StageNext, ctx: KeyContext
    ) -> None:
        """Write what a step makes of a pod, and that it is simulated, in one go."""
        status = next_status(pod, step, self._placement(pod, node), ctx.clock.now())
        if status == pod.status:
            return
        path = resource_of(Pod).path(pod.metadata.namespace, pod.metadata.name, "status")
        query = f"fieldManager={ctx.client.manager}&force=true"
        try:
            await ctx.client.raw(
                "PATCH", f"{path}?{query}", body=_body(pod, status), headers=_HEADERS
            )
        except NotFound:
            ctx.log.debug("pod went away")

    async def _delete(self, pod: SimPod, ctx: KeyContext) -> None:
        path = resource_of(Pod).path(pod.metadata.namespace, pod.metadata.name)
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod.metadata.uid}}
        headers = {"content-type": "application/json"}
        try:
            await ctx.client.raw("DELETE", path, body=codec.encode(options), headers=headers)
        except NotFound:
            ctx.log.debug("pod went away")

    def _placement(self, pod: SimPod, node: SimNode) -> PodPlacement:
        host = self._host_of(node)
        why = NO_PROGRAM if self._runs_processes(node) else NO_MACHINE
        if pod.spec.host_network:
            return PodPlacement(host, host, why)
        if pod.key not in self._given:
            self._given[pod.key] = self._addresses.take(pod.status.pod_ip)
        return PodPlacement(self._given[pod.key], host, why)

    def _host_of(self, node: SimNode) -> str:
        name, addresses = node.metadata.name, node.status.addresses
        if name == self._real:
            return self._host
        internal = (each.address for each in addresses if each.type == "InternalIP")
        return next(internal, host_ip(name))


def _body(pod: SimPod, status: SimPodStatus) -> bytes:
    resource, meta = resource_of(Pod), pod.metadata
    about = {"name": meta.name, "namespace": meta.namespace, "uid": meta.uid}
    return codec.encode(
        {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {**about, "annotations": {POD: "true"}},
            "status": status,
        }
    )
