"""Who is where, kept true by the caches; and who is about to be elsewhere.

The map follows the informers, on leader and standby alike: a device is where its Deployment has to
run, or, if a user brought the Deployment, where its pod is. What this process has decided counts
before it is written: a decision is bound at once, so that the next one knows of it, and holds until
the caches show it. Nothing of this survives the process, or has to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quintant.api.core import Toleration
from quintant.core.clock import Clock, SystemClock, monotonic
from quintant.core.object import K, Request
from quintant.operators.shifu.builders.resources import memory_request
from quintant.operators.shifu.observed.device_view import DeviceView, ShifuDevice
from quintant.operators.shifu.observed.interned import device_key
from quintant.operators.shifu.observed.links import (
    EdgeLink,
    Intent,
    LinkKind,
    own_deployment,
    user_deployment,
)
from quintant.operators.shifu.observed.placement import (
    NoPlacement,
    PlacementDecision,
    PlacementRequest,
)
from quintant.operators.shifu.observed.views import ShifuDeployment, ShifuPod
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.plan.placement import NodeTable
from quintant.operators.shifu.rules.hints import Device, Hints, resolve_hints
from quintant.operators.shifu.topology.edgemap import EdgeMap
from quintant.operators.shifu.topology.nodes import EdgeNodes
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.indexer import Indexer

DEVICE_INDEX = "device"
"""The index of Deployments, pods, Services and ConfigMaps by the device that they are for."""


@dataclass(slots=True)
class BoundDevice:
    """A device on a node, and what it takes of it."""

    node: str
    memory: int
    counted: bool = False
    """Whether a measurement has seen its memory."""
    ready: bool = False


class Topology:
    """Nodes, devices, and what joins them."""

    def __init__(self, options: Options, kind: type[DeviceView] = ShifuDevice) -> None:
        self.options = options
        self.kind = kind
        self.clock: Clock = SystemClock()
        self.edgemap: EdgeMap = EdgeMap()
        self.nodes: EdgeNodes = EdgeNodes()
        self.bound: dict[Request, BoundDevice] = {}
        self.intents: dict[Request, Intent] = {}
        self.unplaced: dict[Request, str] = {}
        """Devices of lost nodes for which no other node is feasible, and why."""
        self.held = False
        """Whether evacuations are held back, since most nodes are lost at once."""
        self.capacity_version: int = 0
        """Changes when a node may have room that it had not before."""
        self._avoided: dict[Request, dict[str, float]] = {}
        self._awaiting: dict[str, set[Request]] = {}
        """Devices that belong to nodes that are not there."""
        self._table: NodeTable | None = None
        self._client: Client | None = None

    def attach(self, client: Client) -> None:
        """Know whose caches to ask."""
        self._client, self.clock = client, client.clock

    @property
    def attached(self) -> bool:
        """Whether there are caches to ask."""
        return self._client is not None

    @property
    def table(self) -> NodeTable:
        """The nodes as they are now, with everything that is bound to them."""
        if self._table is None:
            self._table = self.fresh_table()
        return self._table

    def fresh_table(self) -> NodeTable:
        """A table of one's own, to plan with."""
        offers = [record.offer() for record in self.nodes]
        table = NodeTable(offers, self.options.proximity_tolerance)
        for bound in self.bound.values():
            table.bind(bound.node, self._reserved(bound))
        return table

    def nodes_changed(self) -> None:
        """Look at the nodes again before the next decision."""
        self._table = None
        self.capacity_version += 1

    def find_placement(
        self, want: PlacementRequest, key: Request | None = None
    ) -> PlacementDecision | NoPlacement:
        """The node that a device would go to, as everything but itself is bound now."""
        bound = self.bound.get(key) if key is not None else None
        if bound is None:
            return self.table.find_placement(want)
        with self.table.without(bound.node, self._reserved(bound)):
            return self.table.find_placement(want)

    def tolerations(self, node: str) -> tuple[Toleration, ...]:
        """What deviceShifus on a node tolerate besides."""
        record = self.nodes.find(node)
        return record.tolerations if record is not None else ()

    def intend(self, key: Request, decision: PlacementDecision, cause: str) -> None:
        """Bind a device to where it is to be; the caches will show it."""
        self.intents[key] = Intent(decision, cause, monotonic())
        self.unplaced.pop(key, None)
        self.refresh(key)

    def abandon(self, key: Request) -> None:
        """Give up what was intended with a device."""
        if self.intents.pop(key, None) is not None:
            self.refresh(key)

    def avoid(self, key: Request, node: str, seconds: float) -> None:
        """Do not put a device on a node for a while: it did not work out."""
        self._avoided.setdefault(key, {})[node] = monotonic() + seconds

    def avoided(self, key: Request) -> frozenset[str]:
        """The nodes that a device is not put on now."""
        found, now = self._avoided.get(key), monotonic()
        if found is None:
            return frozenset()
        kept = self._avoided[key] = {node: until for node, until in found.items() if until > now}
        return frozenset(kept)

    def device(self, key: Request) -> DeviceView | None:
        """A device, as the caches have it."""
        return self.store(self.kind).get(key)

    def deployments(self, key: Request) -> tuple[ShifuDeployment, ...]:
        """The Deployments of a device, ours and the user's."""
        return self.store(ShifuDeployment).by_index(DEVICE_INDEX, str(key))

    def pods(self, key: Request) -> tuple[ShifuPod, ...]:
        """The pods of a device."""
        return self.store(ShifuPod).by_index(DEVICE_INDEX, str(key))

    def devices_with_pods_on(self, node: str) -> list[Request]:
        """The devices of which a pod is on a node, wherever they belong by now."""
        found = (pod.device for pod in self.store(ShifuPod) if pod.node == node)
        return [device for device in found if device is not None]

    def store(self, kind: type[K]) -> Indexer[K]:
        """What the caches hold of a kind."""
        assert self._client is not None, "attached first"
        assert self._client.caches is not None, "a manager's client has caches"
        return self._client.caches.informer_for(kind).store

    def refresh(self, key: Request) -> None:
        """Bind a device where it belongs now."""
        key = device_key(*key)
        device = self.device(key)
        if device is None or device.deleting:
            self.forget(key)
            return
        self.edgemap.add_device(key, device.metadata.creation_timestamp or "")
        hints = resolve_hints(device)
        link = self._link(device, hints)
        if link is None or not self.edgemap.bind(key, link):
            if link is not None:
                self._awaiting.setdefault(link.node, set()).add(key)
            self.edgemap.unbind(key)
            self._account(key, None)
            return
        memory = memory_request(device, hints)
        self._account(key, BoundDevice(link.node, memory, ready=link.running))

    def add_node(self, name: str, created: str) -> None:
        """Know a node, and join those with it who belong there."""
        self.edgemap.add_node(name, created)
        for key in self._awaiting.pop(name, ()):
            self.refresh(key)

    def forget(self, key: Request) -> None:
        """Forget a device that is no more."""
        self.intents.pop(key, None)
        self.unplaced.pop(key, None)
        self._avoided.pop(key, None)
        self.edgemap.remove_device(key)
        self._account(key, None)

    def measured(self, nodes: Iterable[str]) -> None:
        """Take note that what is ready on these nodes is in their figures by now."""
        seen = set(nodes)
        for bound in self.bound.values():
            if bound.node in seen:
                bound.counted = bound.ready
        self.nodes_changed()

    def _link(self, device: Device, hints: Hints) -> EdgeLink | None:
        """What joins a device with a node."""
        deployments, pods = self.deployments(device.key), self.pods(device.key)
        connection = device.spec.connection or "Unknown"
        if user_deployment(deployments) is not None:
            self.intents.pop(device.key, None)
            pod = next((pod for pod in pods if pod.node and not pod.managed), None)
            return EdgeLink(pod.node, connection, "adopted", "", pod.ready) if pod else None
        ours = own_deployment(device, deployments)
        intent = self.intents.get(device.key)
        if intent is not None and ours is not None and ours.node == intent.decision.node:
            del self.intents[device.key]
            intent = None
        node = intent.decision.node if intent else ours.node if ours else ""
        running = any(pod.ready and pod.node == node and not pod.deleting for pod in pods)
        since = ours.placed_at if ours is not None and intent is None else ""
        kind: LinkKind = "attached" if hints.node == node else "hosted"
        return EdgeLink(node, connection, kind, since, running) if node else None

    def _account(self, key: Request, now: BoundDevice | None) -> None:
        """Keep the table in step with what is bound."""
        before = self.bound.get(key)
        if before is not None and now is not None:
            same = (before.node, before.memory) == (now.node, now.memory)
            now.counted = same and before.counted
            if same:
                before.ready = now.ready
                return
        if before is not None:
            del self.bound[key]
            if self._table is not None:
                self._table.release(before.node, self._reserved(before))
            self.capacity_version += 1
        if now is not None:
            self.bound[key] = now
            if self._table is not None:
                self._table.bind(now.node, self._reserved(now))

    def _reserved(self, bound: BoundDevice) -> int:
        """What no figure of its node has of a device yet."""
        record = self.nodes.find(bound.node)
        measured = record is not None and record.fresh and bound.counted
        return 0 if measured else bound.memory
