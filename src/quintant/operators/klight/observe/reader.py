"""How pods become networks: which keys a change wakes, how pods are filed, how they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from quintant.core.object import Request, replace
from quintant.operators.klight.api import GROUP, JOINED, NETWORK, PeerPod
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.operators.klight.observed.memory import Memory
from quintant.operators.klight.observed.network import (
    Observed,
    PeerView,
    contested,
    peer_of,
    same,
    view,
)
from quintant.operators.klight.options import Options
from quintant.operators.klight.rules import (
    EVERYWHERE,
    address_of,
    lightnetwork_key,
    network_of,
)
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.indexer import IndexFunction
from quintant.runtime.events.limiter import EventLimiter

BY_NETWORK = "klight/network"
BY_RECORD = "klight/record"
BY_ADDRESS = "klight/address"
"""The indexes of the pods: by label, by the network of their record, by where they listen."""


@dataclass(frozen=True, slots=True)
class Keys:
    """From objects to the keys of networks, by one set of options."""

    options: Options

    @property
    def indexes(self) -> dict[str, IndexFunction[PeerPod]]:
        """How pods are filed."""
        return {
            BY_NETWORK: lambda pod: [str(self._labelled(pod))],
            BY_RECORD: lambda pod: filter(None, [pod.metadata.annotations.get(NETWORK)]),
            BY_ADDRESS: lambda pod: filter(None, [address_of(pod, self.options)]),
        }

    def of_pod(self, pod: PeerPod) -> Iterator[Request]:
        """The network a pod is in by its label, and the one it is recorded in."""
        yield self._labelled(pod)
        namespace, _, name = pod.metadata.annotations.get(NETWORK, "").partition("/")
        if name:
            yield Request(name, namespace)

    def of_lightnetwork(self, lightnetwork: LightNetwork) -> Iterator[Request]:
        """The network that an object shows."""
        namespace = lightnetwork.metadata.namespace
        spans = self.options.network_scope == "cluster" and namespace == self.options.home
        yield Request(lightnetwork.spec.network_id, EVERYWHERE if spans else namespace)

    def aspects(self, pod: PeerPod) -> object:
        """What about a pod matters; all else is noise."""
        meta = pod.metadata
        ours = {key: text for key, text in meta.annotations.items() if key.startswith(GROUP)}
        label = meta.labels.get(self.options.label)
        joined = tuple(each for each in pod.status.conditions if each.type == JOINED)
        status = replace(pod.status, conditions=joined)
        return meta.uid, label, ours, meta.deletion_timestamp, pod.spec, status

    def _labelled(self, pod: PeerPod) -> Request:
        """The key of a pod's network; one without a name if the label is empty."""
        return network_of(pod, self.options) or Request("", pod.metadata.namespace)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class NetworkEpoch:
    """Since when networks are this process's own: since it began, or since it took their ranges."""

    time: datetime
    seconds: float


@dataclass(slots=True)
class NetworkState:
    """What the controller holds of one network between two turns."""

    memory: Memory = field(default_factory=Memory)
    views: Mapping[str, PeerView] = field(default_factory=dict)
    """What was made of each pod at the last look, by uid: most have not changed since."""
    warnings: EventLimiter = field(default_factory=EventLimiter)
    """Which warnings were recorded lately."""
    epoch: NetworkEpoch | None = None
    """In which it was made: another process may have been at work on the network since."""


@dataclass(frozen=True, slots=True)
class ViewReader:
    """Reads one network from the caches."""

    key: Request
    client: Client
    options: Options
    state: NetworkState

    async def observe(self, newer: Sequence[PeerPod] = ()) -> Observed:
        """The network as its pods show it; `newer` are pods that caches may lack."""
        cached = await self._pods(BY_NETWORK, str(self.key))
        recorded = await self._pods(BY_RECORD, str(self.key))
        labelled = [pod for pod in newer if network_of(pod, self.options) == self.key]
        pods = {pod.metadata.uid: pod for pod in (*cached, *labelled)}
        peers = [peer for pod in pods.values() if (peer := self._peer(pod)) is not None]
        unsaved = self.state.memory.join.unsaved
        self.state.views = {peer.uid: peer for peer in peers if peer.uid not in unsaved}
        owners = {peer.address: await self._pods(BY_ADDRESS, peer.address) for peer in peers}
        leavers = [pod for pod in recorded if not self._mine(pod)]
        lightnetwork = await self.client.find(
            LightNetwork, *lightnetwork_key(self.key, self.options)
        )
        if lightnetwork is not None and lightnetwork.spec.network_id != self.key.name:
            lightnetwork = None  # It shows another network, and only has the name of ours.
        return view(self.key, peers, leavers, owners.__getitem__, lightnetwork)

    async def observe_with(self, keys: Sequence[Request]) -> Observed:
        """The network, with what the API server itself knows of the pods of these keys."""
        return await self.observe([*(await self.pods(keys, live=True)).values()])

    async def pods(self, keys: Sequence[Request], *, live: bool) -> dict[Request, PeerPod]:
        """The pods of these keys that there are, by the caches or by the API server itself."""
        pods = {key: await self.client.find(PeerPod, *key, live=live) for key in keys}
        return {key: pod for key, pod in pods.items() if pod is not None}

    async def unchanged(self, peer: PeerView) -> bool:
        """Whether a pod is still the peer it was: same life, same address, same network."""
        pod = await self.client.find(PeerPod, *peer.key)
        now = self._peer(pod) if pod is not None else None
        if now is None or now.uid != peer.uid or now.network != peer.network:
            return False
        rivals = await self._pods(BY_ADDRESS, now.address)
        same_life = (now.incarnation, now.address) == (peer.incarnation, peer.address)
        return same_life and not contested(now, lambda _: rivals).obstacle

    def _peer(self, pod: PeerPod) -> PeerView | None:
        uid, unsaved = pod.metadata.uid, self.state.memory.join.unsaved
        known = self.state.views.get(uid)
        if known is not None and known.pod is pod and uid not in unsaved:
            return known
        return peer_of(pod, self.options, unsaved)

    def _mine(self, pod: PeerPod) -> bool:
        network = network_of(pod, self.options)
        return network is not None and same(str(self.key), network)

    async def _pods(self, index: str, value: str) -> Sequence[PeerPod]:
        return await self.client.list(PeerPod, index=(index, value))
