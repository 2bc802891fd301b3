"""Networks as JSON: what is served at `/networks` beside the metrics, and printed by `-o json`.

It is what the LightNetworks say, read from the cache: so it agrees with `kubectl get lnet`, and a
replica that waits for its turn tells the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quintant.core import codec
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.runtime.cache.client import Client

WORD = "networks"


async def networks(client: Client, path: str) -> bytes | None:
    """All networks, or the one at NAMESPACE/ID; None if there is no such network."""
    lightnetworks = await client.list(LightNetwork)
    if not path:
        return codec.encode(listed(lightnetworks))
    key = tuple(path.split("/"))
    one = next((each for each in lightnetworks if _network_key(each) == key), None)
    return codec.encode(plain(one)) if one is not None else None


def listed(lightnetworks: Iterable[LightNetwork]) -> dict[str, Any]:
    """Several networks, in order."""
    return {WORD: [plain(each) for each in sorted(lightnetworks, key=_network_key)]}


def plain(lightnetwork: LightNetwork) -> dict[str, Any]:
    """One network: where it is, what it is called, and its status."""
    namespace, identity = _network_key(lightnetwork)
    status = codec.to_plain(lightnetwork).get("status", {})
    return {"namespace": namespace, "id": identity, "name": lightnetwork.metadata.name, **status}


def _network_key(lightnetwork: LightNetwork) -> tuple[str, str]:
    return lightnetwork.metadata.namespace, lightnetwork.spec.network_id
