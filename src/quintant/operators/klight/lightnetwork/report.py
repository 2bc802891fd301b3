"""Networks as JSON: what is served at `/networks` beside the metrics, and printed by `-o json`.

It is what the LightNetworks say, read from the cache: so it agrees with `kubectl get lnet`, and a
replica that waits for its turn tells the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quintant.core import codec
from quintant.operators.klight.lightnetwork.api import LightNetwork
from quintant.runtime.cache.client import Client

WORD = "networks"


async def networks(client: Client, path: str) -> bytes | None:
    """All networks, or the one at NAMESPACE/ID; None if there is no such network."""
    found = await client.list(LightNetwork)
    if not path:
        return codec.encode(listed(found))
    place = tuple(path.split("/"))
    one = next((each for each in found if _place(each) == place), None)
    return codec.encode(plain(one)) if one is not None else None


def listed(found: Iterable[LightNetwork]) -> dict[str, Any]:
    """Several networks, in order."""
    return {WORD: [plain(each) for each in sorted(found, key=_place)]}


def plain(shown: LightNetwork) -> dict[str, Any]:
    """One network: where it is, what it is called, and its status."""
    namespace, identity = _place(shown)
    status = codec.to_plain(shown).get("status", {})
    return {"namespace": namespace, "id": identity, "name": shown.metadata.name, **status}


def _place(shown: LightNetwork) -> tuple[str, str]:
    return shown.metadata.namespace, shown.spec.network_id
