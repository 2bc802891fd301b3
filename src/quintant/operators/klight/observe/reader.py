"""From pods to networks: which keys a change wakes, and how pods are found by network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from quintant.core.object import Request, replace
from quintant.operators.klight.act.context import BY_ADDRESS, BY_NETWORK, BY_RECORD
from quintant.operators.klight.api import GROUP, JOINED, NETWORK, LightNetwork, PeerPod
from quintant.operators.klight.options import Options
from quintant.operators.klight.rules import EVERYWHERE, address_of, network_of
from quintant.runtime.cache.store import IndexFunction


@dataclass(frozen=True, slots=True)
class Wiring:
    """The mappings of one set of options."""

    options: Options

    @property
    def indexes(self) -> dict[str, IndexFunction[PeerPod]]:
        """How pods are filed."""
        return {
            BY_NETWORK: lambda pod: [str(self._labelled(pod))],
            BY_RECORD: lambda pod: filter(None, [pod.metadata.annotations.get(NETWORK)]),
            BY_ADDRESS: lambda pod: filter(None, [address_of(pod, self.options)]),
        }

    def networks(self, pod: PeerPod) -> Iterator[Request]:
        """The network a pod is in by its label, and the one it is recorded in."""
        yield self._labelled(pod)
        namespace, _, name = pod.metadata.annotations.get(NETWORK, "").partition("/")
        if name:
            yield Request(name, namespace)

    def shown(self, network: LightNetwork) -> Iterator[Request]:
        """The network that an object shows."""
        namespace = network.metadata.namespace
        spans = self.options.network_scope == "cluster" and namespace == self.options.home
        yield Request(network.spec.network_id, EVERYWHERE if spans else namespace)

    def aspect(self, pod: PeerPod) -> object:
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
