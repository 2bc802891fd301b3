"""kubelet.Kubelet: a controller of the pods that are bound to this node.

    pod, happenings ──> sync: see, tend, report ──> status, events, final delete

A key is a pod's name; beside the pod itself there may be sandboxes of namesakes that were deleted
by force or replaced, which are brought to their end. What is done for each is in
quintant.cluster.kubelet.pod.worker. Pods with an image that is not in the table are left to whoever
simulates them.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Iterable, Iterator
from signal import SIGKILL, SIGTERM
from typing import Any

from quintant.api.core import (
    ConfigMap,
    PersistentVolume,
    PersistentVolumeClaim,
    Secret,
    Service,
    ServiceAccount,
)
from quintant.api.meta import ObjectReference
from quintant.api.pod import Pod
from quintant.cluster.apiserver.kubelet_client.log_provider import LogOptions, LogsUnavailable
from quintant.cluster.apiserver.kubelet_client.streaming_runtime import (
    ContainerNotFound,
    ExecError,
    ExecOptions,
    ExecProcess,
)
from quintant.cluster.kubelet.container.run import ContainerRun, PodEvent
from quintant.cluster.kubelet.container.visit_containers import container_field
from quintant.cluster.kubelet.logs.tail import read_log
from quintant.cluster.kubelet.node_context import NodeContext
from quintant.cluster.kubelet.pod.plan import PodStage
from quintant.cluster.kubelet.pod.sandbox import Sandbox
from quintant.cluster.kubelet.pod.status import state_of, status_of
from quintant.cluster.kubelet.pod.worker import PodWorker
from quintant.cluster.kubelet.process.protocols import StartError
from quintant.core.object import Object, Request
from quintant.core.resource import resource_of
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result
from quintant.runtime.source.channel import Channel
from quintant.runtime.source.sources import SourceContext

CONTROLLER = "kubelet"
"""Who the status fields belong to and events come from, as on any node."""
WORKERS = 8
"""Pods worked on at once: starting a process takes milliseconds."""
GOODBYE_SECONDS = 3.0
"""What programs have to end in when the whole node does."""
DIAL_SECONDS = 5.0
"""For a program of a pod to accept a connection; it is on this machine."""
FINISHED = ("Succeeded", "Failed")


class Kubelet:
    """Runs the pods of a node; `group` owns what runs beside."""

    def __init__(self, node: NodeContext, group: asyncio.TaskGroup) -> None:
        self.node = node
        self._group = group
        self._wakeups = Channel(keep=True)
        self.workers: dict[str, PodWorker] = {}
        """By the pod's uid."""
        self.closed: bool = False
        """Whether the node goes away: nothing is started any more."""

    def sandboxes(self) -> list[Sandbox]:
        """Every pod on this machine."""
        return [worker.sandbox for worker in self.workers.values()]

    def declare(self, manager: Manager) -> None:
        """Add the kubelet's controller to a manager."""
        (
            manager.keyed(CONTROLLER)
            .watches(Pod, to=_itself, fields={"spec.nodeName": self.node.name})
            .watches(ConfigMap, to=self._pods_referring_to)
            .watches(Secret, to=self._pods_referring_to)
            .watches(PersistentVolumeClaim, to=self._pods_referring_to)
            .watches(PersistentVolume, to=_no_keys)
            .watches(Service, to=_no_keys)
            .uses(Pod, "patch", sub="status")
            .uses(Pod, "delete")
            .uses(ServiceAccount, "create", sub="token")
            .on(self._wakeups)
            .on(self._resume)
            .workers(WORKERS)
            .reconcile(self.sync)
        )

    async def sync(self, request: Request, ctx: KeyContext) -> Result | None:
        """Bring this machine in line with a pod, and tell what became of it."""
        if self.closed:
            return None
        pod = await self._find_pod(request, ctx.client)
        uid = pod.metadata.uid if pod is not None else ""
        replaced = self._replaced_workers(request, pod)
        wakes = [await self._terminate(worker) for worker in replaced]
        # A restored pod has the folder of its earlier self: that one ends first.
        ending = any(self.workers.get(uid) is worker for worker in replaced)
        if pod is not None and not ending and self.node.images.runs(pod.spec):
            wakes.append(await self._sync_pod(pod, ctx))
        wake = min(wakes, default=math.inf)
        if wake == math.inf:
            return None
        return Result(after=max(0.0, wake - self.node.now().mono))

    def has(self, uid: str) -> bool:
        return uid in self.workers

    def read(self, uid: str, container: str, options: LogOptions) -> AsyncGenerator[bytes, None]:
        sandbox = self.workers[uid].sandbox
        name = sandbox.pod.metadata.name
        log = sandbox.container_log(container, previous=options.previous)
        if log is None and options.previous:
            raise LogsUnavailable(
                f'previous terminated container "{container}" in pod "{name}" not found'
            )
        if log is None:
            state = state_of(sandbox.record(), sandbox.containers[container], self.node.now())
            why = state.waiting.reason if state.waiting else ""
            raise LogsUnavailable(
                f'container "{container}" in pod "{name}" is waiting to start: {why}'
            )
        return read_log(log, options)

    def check_container(self, uid: str, container: str) -> None:
        self._run_of(uid, container)

    async def exec(self, uid: str, container: str, options: ExecOptions) -> ExecProcess:
        try:
            return await self._run_of(uid, container).exec(self._group, options)
        except StartError as error:
            raise ExecError(str(error)) from error

    async def attach(self, uid: str, container: str, options: ExecOptions) -> ExecProcess:
        return self._run_of(uid, container).attach(options)

    def check_pod(self, uid: str) -> None:
        self._address_of(uid)

    async def dial(self, uid: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            address = self._address_of(uid)
        except ContainerNotFound as error:
            raise ConnectionRefusedError(str(error)) from error
        async with asyncio.timeout(DIAL_SECONDS):
            return await asyncio.open_connection(address, port)

    def _address_of(self, uid: str) -> str:
        worker = None if self.closed else self.workers.get(uid)
        if worker is None or worker.sandbox.finished:
            raise ContainerNotFound("pod not found")
        return worker.sandbox.address

    def _run_of(self, uid: str, container: str) -> ContainerRun:
        worker = None if self.closed else self.workers.get(uid)
        found = worker.sandbox.running.get(container) if worker is not None else None
        if found is None:
            raise ContainerNotFound(f'container not found ("{container}")')
        return found

    def stop_starting(self) -> None:
        """Start nothing any more: the node is about to go away."""
        self.closed = True

    def kill(self) -> None:
        """End every program at once, as a machine does that is switched off."""
        self.stop_starting()
        for box in self.sandboxes():
            for each in box.running.values():
                each.end_sessions()
                each.kill()

    async def close(self) -> None:
        """End every program, first as it wishes, then by force; remove every folder."""
        self.stop_starting()
        running = [each for box in self.sandboxes() for each in box.running.values()]
        for each in running:
            each.end_sessions()
        for number in (SIGTERM, SIGKILL):
            tasks = [each.supervising for each in running if each.supervising is not None]
            for each in running:
                if each.supervising is not None and not each.supervising.done():
                    each.process.signal(number)
            if tasks:
                await asyncio.wait(tasks, timeout=GOODBYE_SECONDS)
        for each in running:
            each.detach()
        for box in self.sandboxes():
            box.close()

    async def _find_pod(self, request: Request, client: Client) -> Pod | None:
        pod = await client.find(Pod, *request)
        worker = self.workers.get(pod.metadata.uid) if pod is not None else None
        if pod is not None and worker is not None and worker.is_ahead_of(pod):
            # The cache is behind, or the cluster was restored: only the server knows.
            return await client.find(Pod, *request, live=True)
        return pod

    async def _sync_pod(self, pod: Pod, ctx: KeyContext) -> float:
        worker = self.workers.get(pod.metadata.uid)
        if worker is None:
            if pod.status.phase in FINISHED:
                # An earlier kubelet brought it to its end.
                if pod.deleting:
                    await ctx.client.delete(pod, grace=0)
                return math.inf
            worker = self.workers[pod.metadata.uid] = self._new_worker(pod)
        wake = await worker.sync(pod, ctx.client)
        await self._report(worker.sandbox, ctx)
        return wake

    async def _report(self, sandbox: Sandbox, ctx: KeyContext) -> None:
        status = status_of(sandbox.record(), self.node.now())
        for note in sandbox.take_events():
            ctx.event(
                _involved_object(sandbox.pod, note), note.reason, note.message, type=note.type
            )
        await ctx.client.set_status(sandbox.pod, status)
        if sandbox.finished and sandbox.pod.deleting:
            await ctx.client.delete(sandbox.pod, grace=0)

    async def _terminate(self, worker: PodWorker) -> float:
        """End a pod that the API knows no more; when to look again."""
        plan = await worker.terminate()
        if plan.stage is not PodStage.OVER:
            return plan.wake_at
        worker.sandbox.close()
        self.workers.pop(worker.sandbox.pod.metadata.uid, None)
        return math.inf

    async def _resume(self, context: SourceContext) -> None:
        """Look at every pod of this machine when the controller starts: some may be gone."""
        for worker in self.workers.values():
            context.queue.add(worker.sandbox.pod.key)
        await asyncio.Future()

    def _new_worker(self, pod: Pod) -> PodWorker:
        def wake() -> None:
            self._wakeups.add(pod.key)

        return PodWorker(Sandbox(pod, self.node, self._group, wake))

    def _replaced_workers(self, request: Request, pod: Pod | None) -> list[PodWorker]:
        """Sandboxes of pods that had this name before, are gone, or were restored since."""
        uid = pod.metadata.uid if pod is not None else ""
        return [
            worker
            for known, worker in self.workers.items()
            if worker.sandbox.pod.key == request
            and (known != uid or (pod is not None and worker.is_ahead_of(pod)))
        ]

    def _pods_referring_to(self, obj: Object) -> Iterator[Request]:
        """The pods that refer to an object."""
        name = resource_of(type(obj)).kind, obj.metadata.name
        for worker in self.workers.values():
            pod = worker.sandbox.pod
            if pod.metadata.namespace == obj.metadata.namespace and name in worker.names:
                yield pod.key


def _itself(pod: Pod) -> Iterable[Request]:
    return (pod.key,)


def _no_keys(_: Any) -> Iterable[Request]:
    return ()


def _involved_object(pod: Pod, note: PodEvent) -> ObjectReference:
    """The pod, or a container in it, as events point at it."""
    return ObjectReference(
        api_version="v1",
        kind="Pod",
        name=pod.metadata.name,
        namespace=pod.metadata.namespace,
        uid=pod.metadata.uid,
        field_path=container_field(pod.spec, note.container) if note.container else "",
    )
