"""A cluster under virtual time with the operator in it, and everything around it modelled.

The workload controllers are the embedded cluster's own. A modelled kubelet starts pods, and
modelled tunnels in them tell of relays that a test takes down and up again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from quintant.api.apps import Deployment
from quintant.api.core import Pod, Service, ServicePort, ServiceSpec
from quintant.api.events import Event
from quintant.client.transport import ApiRequest
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.controllers import controllers as kubernetes
from quintant.core.clock import Random, micro_timestamp, timestamp
from quintant.core.errors import NotFound
from quintant.core.object import ObjectMeta
from quintant.operators.portal import controllers
from quintant.operators.portal.api import (
    DEFAULT_CLASS,
    App,
    PortalExpose,
    PortalExposeSpec,
    RelaySpec,
    RelayTarget,
    ServiceRef,
    TunnelClass,
    TunnelClassSpec,
)
from quintant.operators.portal.options import Options
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source.follower import Unreachable
from quintant.testing import GrantedAccount, InProcessCluster, grant

EXPOSES = "/apis/portal.gosuda.org/v1alpha1/namespaces/default/portalexposes"
CLASSES = "/apis/portal.gosuda.org/v1alpha1/tunnelclasses"
STEP_SECONDS = 0.1
PORT = 8080


@dataclass
class PortalTestbed:
    """The cluster, its modelled parts, and what a test does with them."""

    cluster: InProcessCluster
    options: Options
    down: set[str] = field(default_factory=set)
    """The URLs of relays that do not answer."""
    taken: set[str] = field(default_factory=set)
    """The URLs of relays that have given the name to somebody else."""
    most: dict[str, int] = field(default_factory=dict)
    """How many tunnels of a name relays take, by URL; any number if it is not said."""
    starts: Callable[[Pod], bool] = lambda _: True
    """Whether a pod's program starts."""
    step: float = STEP_SECONDS
    """How often the kubelet and the tunnels look around."""
    liar: Callable[[Pod, bytes], AsyncGenerator[bytes, None]] | None = None
    """What tunnels report instead of the truth."""
    silent: bool = False
    """Whether tunnels tell nothing."""
    account: GrantedAccount | None = None
    engine: Engine | None = None
    """The one that was started last."""
    engines: list[Engine] = field(default_factory=list)
    _pods: dict[str, Pod] = field(default_factory=dict)
    _since: dict[str, str] = field(default_factory=dict)

    async def start(self, **settings: Any) -> Engine:
        """Start the operator under its generated role."""
        manager = Manager("portal", **settings)
        controllers(manager, self.options, self.lines)
        self.account = await grant(self.cluster, manager)
        environment = self.cluster.environment(self.account.credentials)
        self.engine = await self.cluster.run(manager, environment=environment)
        self.engines.append(self.engine)
        return self.engine

    async def sent(self, method: str, path: str, body: Any = None) -> tuple[int, list[str]]:
        """Status and warnings of a request of the administrator's."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        raw = msgspec.json.encode(body) if body is not None else None
        reply = await self.cluster.admin.request(
            ApiRequest(method, path, {}, {"Content-Type": kind}, raw)
        )
        text = reply.headers.get("warning", reply.headers.get("Warning", ""))
        return reply.status, [text] if text else []

    async def attend(self) -> None:
        """Be the kubelet."""
        while True:
            pods = await self.cluster.client.list(Pod)
            self._pods = {self._address(pod): pod for pod in pods}
            for pod in pods:
                await self._care(pod)
            await asyncio.sleep(self.step)

    async def lines(self, address: str) -> AsyncGenerator[bytes, None]:
        """Be a tunnel: tell of the relays, and again whenever that changes."""
        while (liar := self.liar) is not None and (pod := self._pods.get(address)) is not None:
            async with aclosing(liar(pod, self._report(pod, 1))) as lies:
                async for line in lies:
                    yield line
        seq, told = 0, ""
        while not (self.silent or self.liar) and (pod := self._pods.get(address)) is not None:
            if not self.starts(pod):
                break
            relays = self._relays(pod)
            if (now := repr(relays)) != told:
                seq, told = seq + 1, now
                yield self._report(pod, seq)
            await asyncio.sleep(self.step)
        raise Unreachable("connection refused")

    def _report(self, pod: Pod, seq: int) -> bytes:
        observed = micro_timestamp(self.cluster.clock.now())
        return msgspec.json.encode(
            {"v": 1, "seq": seq, "pod": pod.metadata.uid, "relays": self._relays(pod)}
            | {"observedAt": observed}
        )

    async def events(self) -> list[tuple[str, str, str]]:
        """What the operator told so far: type, reason and text, in order."""
        await self.cluster.advance(1)  # they are written in the background
        found = await self.cluster.client.list(Event)
        ours = [each for each in found if each.regarding.kind in ("PortalExpose", "TunnelClass")]
        return [(each.type, each.reason, each.note) for each in sorted(ours, key=_moment)]

    async def reasons(self) -> list[str]:
        return [reason for _, reason, _ in await self.events()]

    async def expose(
        self, name: str = "shop", relays: int = 1, tunnel_class: str = "", **app: Any
    ) -> PortalExpose:
        """Create a PortalExpose."""
        return await self.cluster.create(exposing(name, relays, tunnel_class, **app))

    async def classed(
        self, name: str = "small", replicas: int = 1, default: bool = True, **spec: Any
    ) -> TunnelClass:
        """Create a TunnelClass."""
        noted = {DEFAULT_CLASS: "true"} if default else {}
        meta = ObjectMeta(name=name, annotations=noted)
        spec = {"size": "small", **spec}
        return await self.cluster.create(
            TunnelClass(metadata=meta, spec=TunnelClassSpec(replicas=replicas, **spec))
        )

    async def serve(self, name: str = "web") -> Service:
        """Create the Service."""
        spec = ServiceSpec(ports=(ServicePort(port=PORT),), selector={"app": name})
        return await self.cluster.create(Service(metadata=ObjectMeta(name=name), spec=spec))

    async def phase(self, phase: str, name: str = "shop", within: float = 60.0) -> PortalExpose:
        """Wait for a phase."""
        return await self.cluster.eventually(
            PortalExpose,
            name,
            until=lambda it: it.status is not None and it.status.phase == phase,
            within=within,
        )

    async def ready(self, name: str = "shop", **spec: Any) -> PortalExpose:
        """A PortalExpose at rest, with everything it needs."""
        await self.serve()
        await self.classed(replicas=spec.pop("replicas", 1))
        await self.expose(name, **spec)
        await self.phase("Ready", name)
        await self.cluster.advance(5)
        return await self.cluster.get(PortalExpose, name)

    async def deployment(self, name: str = "shop") -> Deployment:
        return await self.cluster.get(Deployment, f"{name}-tunnel")

    async def merge(self, path: str, change: Any, kind: str = "merge") -> None:
        """Change something as a user would."""
        await self.cluster.client.raw(
            "PATCH",
            path,
            body=msgspec.json.encode(change),
            headers={"Content-Type": f"application/{kind}-patch+json"},
        )

    def _address(self, pod: Pod) -> str:
        number = int(pod.metadata.uid.replace("-", "")[:8], 16)
        return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"

    def _relays(self, pod: Pod) -> list[dict[str, Any]]:
        env = {each.name: each.value for each in pod.spec.containers[0].env}
        if "PORTAL_RELAYS" not in env:
            return []
        found = msgspec.json.decode(env["PORTAL_RELAYS"])
        return [each | self._state(pod, each["url"]) for each in found]

    def _state(self, pod: Pod, url: str) -> dict[str, Any]:
        key = f"{pod.metadata.uid} {url} {url in self.down | self.taken}"
        since = self._since.setdefault(key, timestamp(self.cluster.clock.now()))
        if url in self.down:
            return {"state": "Backoff", "lastError": "connection refused", "since": since}
        if url in self.taken:
            said = "the name is held by another"
            return {"state": "Backoff", "lastError": said, "closeCode": 4409, "since": since}
        earlier = [each for each in self._pods.values() if each.metadata.uid < pod.metadata.uid]
        if len(earlier) >= self.most.get(url, len(self._pods)):
            said = f"{self.most[url]} tunnels have this name already"
            return {"state": "Backoff", "lastError": said, "closeCode": 4429, "since": since}
        return {"state": "Connected", "since": since}

    async def _care(self, pod: Pod) -> None:
        path = f"/api/v1/namespaces/{pod.metadata.namespace}/pods/{pod.metadata.name}"
        try:
            if pod.deleting:
                await self.cluster.client.delete(pod, grace=0)
            elif (status := self._status(pod)) is not None:
                await self.merge(f"{path}/status", {"status": status})
        except NotFound:
            pass

    def _status(self, pod: Pod) -> dict[str, Any] | None:
        """What there is to say of a pod; None if it is said."""
        if not self.starts(pod):
            waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
            if pod.status.container_statuses and not pod.ready:
                return None
            return {"conditions": [self._ready(False)], "containerStatuses": [
                {"name": "tunnel", "image": "", "imageID": "", "ready": False, "restartCount": 0,
                 "state": waiting}]}  # fmt: skip
        # A tunnel is probed once it has an address, so it tells before it is ready.
        connected = any(each["state"] == "Connected" for each in self._relays(pod))
        up = bool(pod.status.pod_ip) and connected
        if pod.status.pod_ip and pod.ready == up:
            return None
        address = self._address(pod)
        running: dict[str, Any] = {"running": {}}
        return {
            "phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
            "conditions": [self._ready(up)], "containerStatuses": [
                {"name": "tunnel", "image": "", "imageID": "", "ready": up, "restartCount": 0,
                 "state": running}],
        }  # fmt: skip

    def _ready(self, ready: bool) -> dict[str, Any]:
        now = timestamp(self.cluster.clock.now())
        return {"type": "Ready", "status": str(ready), "lastTransitionTime": now}


def series(engine: Engine) -> dict[tuple[str, str], float]:
    """Every sample of a process by its name and its first label's value."""
    text = engine.metrics.render().decode()
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def exposing(
    name: str = "shop", relays: int = 1, tunnel_class: str = "", **app: Any
) -> PortalExpose:
    """A PortalExpose of the Service `web`."""
    service = ServiceRef(name=app.get("service", "web"), port=app.get("port", PORT))
    targets = tuple(
        RelayTarget(name=f"r{at}", url=f"wss://r{at}.example.com/relay") for at in range(relays)
    )
    return PortalExpose(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=PortalExposeSpec(
            app=App(name=app.get("app", name), service=service),
            relay=RelaySpec(targets=targets),
            tunnel_class_name=tunnel_class,
        ),
    )


def condition(expose: PortalExpose, type: str) -> tuple[str, str]:
    """Status and reason of a condition."""
    assert expose.status is not None
    found = next(each for each in expose.status.conditions if each.type == type)
    return found.status, found.reason


def _moment(event: Event) -> str:
    return event.event_time or ""


@asynccontextmanager
async def opened(options: Options = Options(), **settings: Any) -> AsyncIterator[PortalTestbed]:
    """A testbed in which the operator is at work, with these settings of its manager."""
    cluster = InProcessCluster(rbac=True)
    await cluster.install(PortalExpose, TunnelClass)
    testbed = PortalTestbed(cluster, options)
    component = Component(kubernetes())
    async with run_component(cluster.server, component, cluster.clock, Random()):
        async with asyncio.TaskGroup() as group:
            task = group.create_task(testbed.attend())
            await testbed.start(**settings)
            try:
                yield testbed
            finally:
                task.cancel()
        await cluster.close()
