"""A scheduler and a kubelet for the checks of controllers, on either server, through the API alone.

It looks after the pods of one namespace: binds each to one of its nodes, says that it runs and is
ready, and ends it when somebody deletes it. A check changes what becomes of pods, those that are
there and those to come, by labels; the last word that fits a pod counts:

    kubelet.let(UNREADY, app="a")                      # run, but never become ready
    kubelet.let(ENDED, {"batch.kubernetes.io/job-completion-index": "0"})
    kubelet.let(READY)                                 # every pod, again

Nodes have names of the namespace's own and fresh leases, so that nobody takes them for dead.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from conformance.target import STRATEGIC, Target
from quintant.client.transport import ApiRequest
from unit.cluster.api import JsonObject

LEASE_SECONDS = 40
RENEW_SECONDS = 10.0
NODES = "/api/v1/nodes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
KILLED = 143
"""How a program ends that does nothing about a signal to terminate."""
OVER = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a pod."""

    bound: bool = True
    started: bool = True
    ready: bool = True
    restarts: int = 0
    code: int | None = None
    """With which exit code all its containers end; None as long as they run."""
    lingers: bool = False
    """Whether it stays when it is deleted, until it meets another fate."""


READY = Fate()
UNREADY = Fate(ready=False)
WAITING = Fate(started=False)
"""Bound to a node, and Pending."""
UNBOUND = Fate(bound=False)
ENDED = Fate(code=0)
FAILED = Fate(code=1)
LINGERING = Fate(lingers=True)


class Kubelet:
    """Looks after the pods of one namespace while it runs."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._nodes: dict[str, JsonObject] = {}
        self._pods: dict[str, JsonObject] = {}
        self._fates: list[tuple[Mapping[str, str], Fate]] = [({}, READY)]
        self._woken = asyncio.Event()
        self._addresses = 0

    @property
    def nodes(self) -> list[str]:
        """The names of its nodes, the first to join first."""
        return list(self._nodes)

    def let(self, fate: Fate, labels: Mapping[str, str] | None = None, **more: str) -> None:
        """Say what becomes of the pods with these labels, from now on."""
        self._fates.append(({**(labels or {}), **more}, fate))
        self._woken.set()

    async def join(
        self,
        name: str,
        *,
        labels: Mapping[str, str] | None = None,
        taints: list[JsonObject] | None = None,
    ) -> str:
        """Add a node; its name is made unique and returned."""
        name = f"{name}-{self._target.namespace}"
        named = {"kubernetes.io/hostname": name, **(labels or {})}
        node: JsonObject = {
            "metadata": {"name": name, "labels": named},
            "spec": {"taints": taints} if taints else {},
            "status": _node_status(),
        }
        await self._target.create(NODES, node)
        await self._target.create(LEASES, {"metadata": {"name": name}, "spec": _lease(name)})
        self._nodes[name] = node
        self._woken.set()
        return name

    async def leave(self, name: str) -> None:
        """Remove a node; its pods are as dead as those of a machine that burnt."""
        del self._nodes[name]
        await self._target.send("DELETE", f"{LEASES}/{name}")
        await self._target.send("DELETE", f"{NODES}/{name}")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Kubelet]:
        """Work for as long as the context lasts, with one node to begin with."""
        await self.join("node")
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work()) for work in (self._follow, self._tend, self._renew)]
            try:
                yield self
            finally:
                for task in tasks:
                    task.cancel()
        for name in self.nodes:
            await self.leave(name)

    async def _follow(self) -> None:
        """Keep what the server says of the pods."""
        call = ApiRequest("GET", self._target.path("pods"), {"watch": "true"})
        while True:
            self._pods.clear()
            async with self._target.transport.stream(call) as stream:
                async for line in _lines(stream.chunks):
                    self._take(msgspec.json.decode(line))

    def _take(self, event: JsonObject) -> None:
        pod = event["object"]
        if event["type"] == "DELETED":
            self._pods.pop(pod["metadata"]["uid"], None)
        elif event["type"] in ("ADDED", "MODIFIED"):
            self._pods[pod["metadata"]["uid"]] = pod
        self._woken.set()

    async def _tend(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            for pod in list(self._pods.values()):
                if self._mine(pod):
                    await self._care(pod)

    def _mine(self, pod: JsonObject) -> bool:
        return pod["spec"].get("nodeName", "") in ("", *self._nodes)

    async def _care(self, pod: JsonObject) -> None:
        """Do the next thing for a pod. What has changed meanwhile comes with the next event."""
        name, fate = pod["metadata"]["name"], self._fate(pod)
        if not pod["spec"].get("nodeName"):
            if fate.bound and (node := self._place(pod)):
                await self._bind(pod, node)
            return
        if "deletionTimestamp" in pod["metadata"]:
            if not fate.lingers:
                await self._end(pod, fate)
            return
        status = self._status(pod, fate)
        if not _says(pod.get("status", {}), status):
            await self._say(name, pod, status)

    def _fate(self, pod: JsonObject) -> Fate:
        labels = (pod["metadata"].get("labels") or {}).items()
        return next(fate for wanted, fate in reversed(self._fates) if wanted.items() <= labels)

    def _place(self, pod: JsonObject) -> str:
        """The node with the fewest pods of those that a pod may go to; empty if there is none."""
        taken = [other["spec"].get("nodeName") for other in self._pods.values()]
        fitting = [name for name, node in self._nodes.items() if _fits(pod, node)]
        return min(fitting, key=taken.count, default="")

    async def _bind(self, pod: JsonObject, node: str) -> None:
        meta = pod["metadata"]
        path = self._target.path("pods", meta["name"], sub="binding")
        about = {"metadata": {"name": meta["name"], "uid": meta["uid"]}}
        await self._target.send("POST", path, {**about, "target": {"kind": "Node", "name": node}})

    def _status(self, pod: JsonObject, fate: Fate) -> JsonObject:
        old = pod.get("status", {})
        if old.get("phase") in OVER:
            return {}
        if not fate.started:
            return {
                "phase": "Pending",
                "conditions": _conditions(old, Initialized=False, Ready=False),
            }
        address = old.get("podIP") or self._address()
        return {
            "phase": _phase(fate.code),
            "startTime": old.get("startTime") or _now(),
            "hostIP": "127.0.0.1",
            "podIP": address,
            "podIPs": [{"ip": address}],
            **_contained(pod, old, fate),
        }

    def _address(self) -> str:
        self._addresses += 1
        return f"10.77.{self._addresses // 250}.{self._addresses % 250 + 1}"

    async def _say(self, name: str, pod: JsonObject, status: JsonObject) -> None:
        patch = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        path = self._target.path("pods", name, sub="status")
        await self._target.send("PATCH", path, patch, media=STRATEGIC)

    async def _end(self, pod: JsonObject, fate: Fate) -> None:
        """Stop a pod that is being deleted, say so, and let go of it."""
        name, meta = pod["metadata"]["name"], pod["metadata"]
        status = pod.get("status", {})
        if status.get("startTime") and status.get("phase") not in OVER:
            code = KILLED if fate.code is None else fate.code
            await self._say(name, pod, self._status(pod, Fate(ready=False, code=code)))
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}}
        await self._target.send("DELETE", self._target.path("pods", name), options)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            for name in self.nodes:
                await self._target.merge(f"{LEASES}/{name}", {"spec": _lease(name)})


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line


def _fits(pod: JsonObject, node: JsonObject) -> bool:
    if wanted := _named(pod["spec"]):
        return node["metadata"]["name"] in wanted
    selector = (pod["spec"].get("nodeSelector") or {}).items()
    return selector <= node["metadata"]["labels"].items() and not node["spec"].get("taints")


def _named(spec: JsonObject) -> list[str]:
    """The nodes that a pod names, as those of a DaemonSet do."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get(required) or {}).get("nodeSelectorTerms") or []
    fields = [field for term in terms for field in term.get("matchFields") or []]
    return [name for field in fields for name in field["values"]]


def _contained(pod: JsonObject, old: JsonObject, fate: Fate) -> JsonObject:
    """What a started pod's status says of its containers."""
    running = fate.code is None
    before = {each["name"]: each for each in old.get("containerStatuses") or []}
    containers = []
    for container in pod["spec"]["containers"]:
        known = before.get(container["name"], {})
        since = (known.get("state", {}).get("running") or {}).get("startedAt") or _now()
        ended = {"exitCode": fate.code, "reason": "Error" if fate.code else "Completed",
                 "startedAt": since, "finishedAt": _now()}  # fmt: skip
        containers.append({
            "name": container["name"],
            "image": container["image"],
            "imageID": container["image"],
            "containerID": f"suite://{pod['metadata']['uid']}/{container['name']}",
            "ready": fate.ready and running,
            "started": running,
            "restartCount": fate.restarts,
            "state": {"running": {"startedAt": since}} if running else {"terminated": ended},
        })  # fmt: skip
    ready = fate.ready and running
    return {
        "conditions": _conditions(old, Initialized=True, ContainersReady=ready, Ready=ready),
        "containerStatuses": containers,
    }


def _conditions(old: JsonObject, **wanted: bool) -> list[JsonObject]:
    """Conditions with the time at which each last turned."""
    before = {each["type"]: each for each in old.get("conditions") or []}
    made = []
    for name, true in wanted.items():
        status, known = str(true), before.get(name, {})
        same = known.get("status") == status and known.get("lastTransitionTime")
        made.append({"type": name, "status": status, "lastTransitionTime": same or _now()})
    return made


def _phase(code: int | None) -> str:
    return "Running" if code is None else "Failed" if code else "Succeeded"


def _says(status: JsonObject, wanted: JsonObject) -> bool:
    """Whether a status says already what it should; times apart from those of conditions."""
    if any(status.get(field) != wanted[field] for field in ("phase", "podIP") if field in wanted):
        return False
    return _facts(wanted) <= _facts(status)


def _facts(status: JsonObject) -> set[Any]:
    conditions = {(each["type"], each["status"]) for each in status.get("conditions") or []}
    containers = {
        (each["name"], each["ready"], each["restartCount"])
        for each in status.get("containerStatuses") or []
    }
    return conditions | containers


def _node_status() -> JsonObject:
    amounts = {"cpu": "64", "memory": "256Gi", "pods": "10000"}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady",
             "lastHeartbeatTime": _now(), "lastTransitionTime": _now()}  # fmt: skip
    return {
        "capacity": amounts,
        "allocatable": amounts,
        "conditions": [ready],
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
    }


def _lease(name: str) -> JsonObject:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"holderIdentity": name, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": now}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
