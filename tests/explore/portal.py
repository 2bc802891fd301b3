"""Portal Expose, explored: created, changed, given another class, left by its Service, deleted.

Deployments and ReplicaSets are the embedded cluster's own controllers. A small kubelet starts the
pods, and the tunnels in them tell that every relay is connected. None of them is disturbed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import msgspec

from quintant import Context, Manager, Shards, replace
from quintant.api.core import Pod, Service, ServicePort, ServiceSpec
from quintant.cluster.controllers import deployment, replicaset
from quintant.core.clock import micro_timestamp, timestamp
from quintant.core.object import ObjectMeta
from quintant.operators.portal import declare
from quintant.operators.portal.act import MARK
from quintant.operators.portal.api import DEFAULT_CLASS, PortalExpose, TunnelClass, TunnelClassSpec
from quintant.operators.portal.metrics import PortalMetrics
from quintant.operators.portal.options import Options
from quintant.operators.portal.tunnel_class import controllers as control_classes
from quintant.runtime.source.follower import Unreachable
from quintant.testing import FaultMode, Scenario, ScenarioWorld, SpecScenario, named
from quintant.testing.explore.injection.fault import CRASHES, MEMBER_MODES
from testbeds.portal import PORT, exposing

REVISION = "deployment.kubernetes.io/revision"
# A tunnel is given a few seconds for its first word.
CALM_SECONDS = 10.0
AWAY_SECONDS = 20.0
# Conditions that are told only once something was wrong.
ONCE_WRONG = ("ServicePortExists", "RelayTokenShared", "TunnelClassValid", "Valid")


class Tunnels:
    """The tunnels of one world: each tells once, and has nothing more to say."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    async def lines(self, address: str) -> AsyncGenerator[bytes, None]:
        pods = [each for each in self._world.all(Pod) if address_of(each) == address]
        if not pods or not pods[0].status.pod_ip:
            raise Unreachable("connection refused")
        yield report(pods[0], micro_timestamp(self._world.cluster.clock.now()))
        # Who has no pod any more is not listened to any longer.
        await asyncio.get_running_loop().create_future()


def report(pod: Pod, now: str) -> bytes:
    env = {each.name: each.value for each in pod.spec.containers[0].env}
    relays = msgspec.json.decode(env.get("PORTAL_RELAYS") or "[]")
    told = [{**each, "state": "Connected", "since": now} for each in relays]
    whole = {"v": 1, "seq": 1, "pod": pod.metadata.uid, "relays": told, "observedAt": now}
    return msgspec.json.encode(whole)


def address_of(pod: Pod) -> str:
    number = int(pod.metadata.uid.replace("-", "")[:8], 16)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def workloads() -> Manager:
    """What makes pods of Deployments."""
    manager = Manager("kube-controller-manager")
    deployment.declare(manager)
    replicaset.declare(manager)
    return manager


def kubelet() -> Manager:
    """Runs every pod, and ends those that are to go."""

    async def reconcile(pod: Pod, ctx: Context[Pod]) -> None:
        if not pod.status.pod_ip:
            await ctx.client.raw(
                "PATCH",
                f"/api/v1/namespaces/{pod.metadata.namespace}/pods/{pod.metadata.name}/status",
                body=msgspec.json.encode({"status": running(pod, timestamp(ctx.clock.now()))}),
                headers={"Content-Type": "application/merge-patch+json"},
            )

    manager = Manager("kubelet")
    manager.controls(Pod).reconcile(reconcile)
    return manager


def running(pod: Pod, now: str) -> dict[str, Any]:
    address = address_of(pod)
    container = {"name": "tunnel", "image": "", "imageID": "", "ready": True, "restartCount": 0}
    return {
        "phase": "Running",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": now}],
        "containerStatuses": [{**container, "state": {"running": {}}}],
    }


class _Portal(Scenario):
    """A Service behind a tunnel."""

    calm = CALM_SECONDS

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("portal")
        self.declare(manager, world)
        return [manager]

    def declare(self, manager: Manager, world: ScenarioWorld) -> None:
        """What the operator does."""
        # Keys that nobody can guess would be others in every run.
        declare(manager, Options(), Tunnels(world).lines, PortalMetrics(), seed=lambda: bytes(32))
        control_classes(manager)

    async def script(self, world: ScenarioWorld) -> None:
        await world.run(workloads())
        await world.run(kubelet())
        await world.create(service())
        await world.create(tunnel_class("small", default=True))
        await world.create(exposing())
        await world.quiet()

    def normalise(self, document: dict[str, Any]) -> dict[str, Any] | None:
        """What workload controllers remember of roll-outs is theirs; hashes are of uids, too."""
        for key in (REVISION, MARK.key):
            document["metadata"].get("annotations", {}).pop(key, None)
        if document["kind"] in ("ReplicaSet", "Pod"):
            return None
        if document["kind"] == "Deployment":
            told = document.get("status", {})
            document["status"] = {key: told.get(key) for key in ("replicas", "readyReplicas")}
        return document


def service() -> Service:
    spec = ServiceSpec(ports=(ServicePort(port=PORT),), selector={"app": "web"})
    return Service(metadata=named("web"), spec=spec)


def tunnel_class(name: str, replicas: int = 1, *, default: bool = False) -> TunnelClass:
    noted = {DEFAULT_CLASS: "true"} if default else {}
    spec = TunnelClassSpec(replicas=replicas, size="small")
    return TunnelClass(metadata=ObjectMeta(name=name, annotations=noted), spec=spec)


class PortalLife(_Portal):
    """Created, given a second relay, deleted."""

    async def script(self, world: ScenarioWorld) -> None:
        await super().script(world)
        await world.edit(PortalExpose, "shop", lambda it: replace(it, spec=exposing(relays=2).spec))
        await world.quiet()
        await world.delete(PortalExpose, "shop")
        await world.quiet()

    def settled(self, world: ScenarioWorld) -> None:
        assert not world.all(Pod), "a tunnel outlives what it exposed"


class PortalClassChange(_Portal):
    """Its class is changed, and then it is given another one."""

    async def script(self, world: ScenarioWorld) -> None:
        await super().script(world)
        await world.edit(
            TunnelClass, "small", lambda it: replace(it, spec=tunnel_class("", 2).spec), ""
        )
        await world.quiet()
        await world.create(tunnel_class("other"))
        await world.quiet()
        other = exposing(tunnel_class="other").spec
        await world.edit(PortalExpose, "shop", lambda it: replace(it, spec=other))
        await world.quiet()


class PortalServiceGone(_Portal):
    """Its Service goes."""

    # Without its Service tunnels are left as they are, whatever happens to them.
    modes = frozenset(FaultMode) - {
        FaultMode.CHILD_DELETED,
        FaultMode.CHILD_EDITED,
        FaultMode.CHILD_RECREATED,
        FaultMode.PARENT_DELETED,
    }

    async def script(self, world: ScenarioWorld) -> None:
        await super().script(world)
        await world.delete(Service, "web")
        await world.quiet()


class PortalServiceBack(_Portal):
    """Its Service goes for a while, and comes back."""

    async def script(self, world: ScenarioWorld) -> None:
        await super().script(world)
        await world.delete(Service, "web")
        await world.advance(AWAY_SECONDS)
        await world.create(service())
        await world.quiet()


class PortalOfThreeMembers(_Portal):
    """Three members: one has the PortalExpose, and perhaps another one the classes."""

    replicas = 3
    modes = (*MEMBER_MODES, *CRASHES, FaultMode.LOST)

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("portal", shards=Shards(ranges=8))
        self.declare(manager, world)
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.quiet()
        await super().script(world)
        await world.create(tunnel_class("other", default=True))
        await world.quiet()
        await world.delete(PortalExpose, "shop")
        await world.quiet()


class _PortalSpecs(SpecScenario, _Portal):
    """Whether a spec was ever wrong is left out."""

    def normalise(self, document: dict[str, Any]) -> dict[str, Any] | None:
        found = super().normalise(document)
        conditions = ((found or {}).get("status") or {}).get("conditions", {})
        for each in ONCE_WRONG if isinstance(conditions, dict) else ():
            if conditions.get(each, {}).get("status") == "True":
                del conditions[each]
        return found


class PortalSpecs(_PortalSpecs):
    """Everything that can be said of a PortalExpose."""

    subject = exposing()

    def hopeless(self, document: dict[str, Any]) -> bool:
        """Tunnels that serve are left as they are while their Service, port or class is missing."""
        return bool(document.get("status", {}).get("phase", "Ready") != "Ready")

    async def surroundings(self, world: ScenarioWorld) -> None:
        await world.run(workloads())
        await world.run(kubelet())
        await world.create(service())
        await world.create(tunnel_class("small", default=True))


class TunnelClassSpecs(_PortalSpecs):
    """Everything that can be said of a TunnelClass that is in force."""

    subject = replace(
        tunnel_class("small", default=True),
        spec=replace(tunnel_class("small").spec, node_selector={"zone": "a"}),
    )

    async def surroundings(self, world: ScenarioWorld) -> None:
        await world.run(workloads())
        await world.run(kubelet())
        await world.create(service())
        await world.create(exposing())
