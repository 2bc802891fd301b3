"""How pods become networks: which keys a change wakes, how pods are filed, how they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quintant.core.object import Request, replace
from quintant.operators.klight.api import GROUP, JOINED, NETWORK, PeerPod
from quintant.operators.klight.lightnetwork.api import LightNetwork
from quintant.operators.klight.observe.memory import Memory
from quintant.operators.klight.observe.view import (
    Observed,
    PeerView,
    contested,
    peer_of,
    same,
    view,
)
from quintant.operators.klight.options import Options
from quintant.operators.klight.rules import EVERYWHERE, address_of, network_of, object_name
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.indexer import IndexFunction

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

    def of_lightnetwork(self, shown: LightNetwork) -> Iterator[Request]:
        """The network that an object shows."""
        namespace = shown.metadata.namespace
        spans = self.options.network_scope == "cluster" and namespace == self.options.home
        yield Request(shown.spec.network_id, EVERYWHERE if spans else namespace)

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


@dataclass(frozen=True, slots=True)
class ViewReader:
    """Reads one network from the caches."""

    key: Request
    client: Client
    options: Options
    memory: Memory

    @property
    def place(self) -> Request:
        """Where the network's LightNetwork is."""
        spans = self.key.namespace == EVERYWHERE
        namespace = self.options.home if spans else self.key.namespace
        return Request(object_name(self.key.name), namespace)

    async def observe(self, newer: Sequence[PeerPod] = ()) -> Observed:
        """The network as its pods show it; `newer` are pods that caches may lack."""
        cached = await self._pods(BY_NETWORK, str(self.key))
        recorded = await self._pods(BY_RECORD, str(self.key))
        labelled = [pod for pod in newer if network_of(pod, self.options) == self.key]
        pods = {pod.metadata.uid: pod for pod in (*cached, *labelled)}
        peers = [peer for pod in pods.values() if (peer := self._peer(pod)) is not None]
        owners = {peer.address: await self._pods(BY_ADDRESS, peer.address) for peer in peers}
        leavers = [pod for pod in recorded if not self._mine(pod)]
        return view(self.key, peers, leavers, owners.__getitem__)

    async def lightnetwork(self) -> LightNetwork | None:
        """The object that shows the network, if there is one."""
        return await self.client.find(LightNetwork, *self.place)

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
        uid, memory = pod.metadata.uid, self.memory
        known = memory.peers.get(uid)
        if known is not None and known.pod is pod and uid not in memory.unsaved:
            return known
        peer = peer_of(pod, self.options, memory.unsaved)
        if peer is not None and uid not in memory.unsaved:
            memory.peers[uid] = peer
        return peer

    def _mine(self, pod: PeerPod) -> bool:
        network = network_of(pod, self.options)
        return network is not None and same(str(self.key), network)

    async def _pods(self, index: str, value: str) -> Sequence[PeerPod]:
        return await self.client.list(PeerPod, index=(index, value))
