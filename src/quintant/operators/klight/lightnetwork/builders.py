"""The object that shows a network: made with its first pod, removed some time after its last."""

from __future__ import annotations

from quintant.core.object import ObjectMeta, Request
from quintant.operators.klight.lightnetwork.api import LightNetwork, LightNetworkSpec


def lightnetwork(place: Request, network: str) -> LightNetwork:
    """The LightNetwork of a network, as it is first made; users may edit its spec."""
    meta = ObjectMeta(name=place.name, namespace=place.namespace)
    return LightNetwork(metadata=meta, spec=LightNetworkSpec(network_id=network))
