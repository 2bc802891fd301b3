"""Portal Expose with its users: shops behind two relays, which are lost and come back."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Iterable
from typing import Any

import msgspec

from quintant.api.apps import Deployment
from quintant.api.core import Pod, Service
from quintant.core.clock import micro_timestamp
from quintant.core.errors import AlreadyExists
from quintant.core.object import Object
from quintant.core.owner import controller_of
from quintant.core.resource import resource_of
from quintant.operators.portal import declare, tunnel_class
from quintant.operators.portal.alerts import ALERTS
from quintant.operators.portal.api import DEFAULT_CLASS, PortalExpose, TunnelClass
from quintant.operators.portal.metrics import PortalMetrics
from quintant.operators.portal.options import Options
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source.follower import Unreachable
from quintant.testing.simulate.disturbances import HOUR, MINUTE, RecurringDisturbance, Undo, chosen
from quintant.testing.simulate.plan import Occurrence
from quintant.testing.simulate.systems.system import SimulatedSystem, made
from quintant.testing.simulate.world import SimulatedWorld

NAMESPACE = "shops"
SHOPS = ("books", "music", "tools")
RELAYS = ("r1", "r2")
PORT = 8080
KIND = resource_of(PortalExpose).kind
LOOK_SECONDS = 15.0
"""How often a tunnel looks whether its relays are there."""
LOST_DURING_CHANGE = "a relay was lost while a class changed"
LOST_TOGETHER = "both relays were lost"
CHANGE_SECONDS = 120.0
"""What a roll-out of tunnels takes."""


class Portal(SimulatedSystem):
    """Three shops, of which one comes and goes."""

    namespaces: tuple[str, ...] = (NAMESPACE,)
    kinds: tuple[type[Object], ...] = (PortalExpose, TunnelClass)
    sometimes: tuple[str, ...] = (LOST_DURING_CHANGE, LOST_TOGETHER)

    def __init__(self, world: SimulatedWorld) -> None:
        super().__init__(world)
        self._lost: set[str] = set()
        self._changed = -CHANGE_SECONDS
        world.assertions.always(self._tunnels, "deployments.apps")

    def manager(self) -> Manager:
        manager, metrics = Manager("portal"), PortalMetrics()
        manager.operator(Options(), metrics=metrics, alerts=ALERTS)
        declare(manager, Options(), self._lines, metrics, seed=lambda: bytes(32))
        tunnel_class.controllers(manager)
        return manager

    async def prepare(self) -> None:
        client = self.world.client
        spec = {"replicas": 2, "size": "small"}
        await client.create(
            made(TunnelClass, "default", "", spec, annotations={DEFAULT_CLASS: "true"})
        )
        for name in SHOPS:
            ports = {"ports": [{"port": PORT}], "selector": {"app": name}}
            await client.create(made(Service, name, NAMESPACE, ports))
            await client.create(_expose(name))

    def disturbances(self) -> list[RecurringDisturbance]:
        return [
            RecurringDisturbance(
                Occurrence("relay is lost", 1 * HOUR, 15 * MINUTE), self._lose_relay
            ),
            RecurringDisturbance(Occurrence("class changes", 1.5 * HOUR), self._change_class),
            RecurringDisturbance(Occurrence("shop closes", 3 * HOUR, 20 * MINUTE), self._close),
            RecurringDisturbance(
                Occurrence("service goes", 4 * HOUR, 10 * MINUTE), self._remove_service
            ),
        ]

    def at_rest(self) -> Iterable[str]:
        for each in self.world.all(PortalExpose):
            phase = each.status.phase if each.status is not None else "none"
            if phase != "Ready":
                yield f"PortalExpose {each.key} is {phase}"
        if len(self.world.all(PortalExpose)) != len(SHOPS):
            yield "a shop did not open again"

    def _tunnels(self) -> Iterable[str]:
        """Nobody makes two sets of tunnels of one shop."""
        deployments = self.world.all(Deployment, NAMESPACE)
        owners = [controller_of(each) for each in deployments if not each.deleting]
        shops = Counter(owner.uid for owner in owners if owner and owner.kind == KIND)
        if any(count > 1 for count in shops.values()):
            yield "a shop has two sets of tunnels"

    async def _lines(self, address: str) -> AsyncGenerator[bytes, None]:
        """What the tunnel at an address tells, until its pod is no more."""
        before, number = None, 0
        while (pod := self._tunnel(address)) is not None:
            now = frozenset(self._lost)
            if now != before:
                before, number = now, number + 1
                yield self._report(pod, number)
            await asyncio.sleep(LOOK_SECONDS)
        raise Unreachable("connection refused")

    def _tunnel(self, address: str) -> Pod | None:
        dead = self.world.dead_nodes()
        return next(
            (
                each
                for each in self.world.all(Pod, NAMESPACE)
                if each.status.pod_ip == address
                and each.status.phase == "Running"
                and each.spec.node_name not in dead
            ),
            None,
        )

    def _report(self, pod: Pod, number: int) -> bytes:
        now = micro_timestamp(self.world.cluster.clock.now())
        env = {each.name: each.value for each in pod.spec.containers[0].env}
        relays = [
            {**each, "state": self._state(each["name"]), "since": now}
            for each in msgspec.json.decode(env.get("PORTAL_RELAYS") or "[]")
        ]
        whole = {"v": 1, "seq": number, "pod": pod.metadata.uid, "relays": relays}
        return msgspec.json.encode({**whole, "observedAt": now})

    def _state(self, relay: str) -> str:
        return "Connecting" if relay in self._lost else "Connected"

    async def _lose_relay(self, chance: float) -> Undo | None:
        relay, world = RELAYS[chosen(chance, len(RELAYS))], self.world
        if relay in self._lost:
            return None
        world.timeline.tell(f"relay {relay} is lost")
        world.assertions.sometimes(LOST_TOGETHER, holds=bool(self._lost - {relay}))
        self._lost.add(relay)
        since = asyncio.get_running_loop().time() - self._changed
        world.assertions.sometimes(LOST_DURING_CHANGE, holds=since < CHANGE_SECONDS)

        async def recover() -> None:
            world.timeline.tell(f"relay {relay} is back")
            self._lost.discard(relay)

        return recover

    async def _change_class(self, chance: float) -> None:
        replicas = 1 + chosen(chance, 3)
        self.world.timeline.tell(f"the tunnel class has {replicas} replicas")
        self._changed = asyncio.get_running_loop().time()
        self.world.assertions.sometimes(LOST_DURING_CHANGE, holds=bool(self._lost))
        found = self.world.one(TunnelClass, "default")
        if found is not None:
            await self.world.patch(TunnelClass, found.key, {"spec": {"replicas": replicas}})

    async def _close(self, chance: float) -> Undo | None:
        name = SHOPS[chosen(chance, len(SHOPS))]
        found = self.world.one(PortalExpose, name, NAMESPACE)
        if found is None or found.deleting:
            return None
        self.world.timeline.tell(f"shop {name} closes")
        await self.world.delete(found)

        async def reopen() -> None:
            self.world.timeline.tell(f"shop {name} opens again")
            await self._create(_expose(name))

        return reopen

    async def _remove_service(self, chance: float) -> Undo | None:
        name = SHOPS[chosen(chance, len(SHOPS))]
        found = self.world.one(Service, name, NAMESPACE)
        if found is None:
            return None
        self.world.timeline.tell(f"service {name} goes")
        await self.world.delete(found)

        async def restore() -> None:
            self.world.timeline.tell(f"service {name} is back")
            ports = {"ports": [{"port": PORT}], "selector": {"app": name}}
            await self._create(made(Service, name, NAMESPACE, ports))

        return restore

    async def _create(self, obj: Any) -> None:
        """Create something again; a user who is too early waits until the old one has gone."""
        while True:
            try:
                await self.world.client.create(obj)
                return
            except AlreadyExists:
                await asyncio.sleep(LOOK_SECONDS)


def _expose(name: str) -> PortalExpose:
    relays = [{"name": each, "url": f"wss://{each}.example.com/relay"} for each in RELAYS]
    app = {"name": name, "service": {"name": name, "port": PORT}}
    return made(PortalExpose, name, NAMESPACE, {"app": app, "relay": {"targets": relays}})
