"""Manifests that cover every field of the Cosmos operator's kinds, and what each of them gives.

The files are in tests/operators/cosmos/manifests; here is which objects a server has afterwards,
the embedded one and a real one alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from quintant.api.core import ConfigMap, Service, ServiceAccount
from quintant.api.pod import Pod
from quintant.api.rbac import Role, RoleBinding
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.object import Object
from quintant.core.owner import controller_of
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.sample import manifests

FOLDER = Path(__file__).parents[1] / "operators/cosmos/manifests"
CHILDREN: tuple[type[Object], ...] = (
    Service, ConfigMap, ServiceAccount, Role, RoleBinding, PersistentVolumeClaim, Pod,
)  # fmt: skip
PRIORITY = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "chains"},
    "value": 1000,
}
"""What full.yaml names: a server refuses its pods without."""
Plain = Mapping[str, Any]


def manifest(name: str) -> Plain:
    """The one document of a file."""
    (found,) = manifests(FOLDER / f"{name}.yaml")
    return found


def _instances(app: str, ordinals: Iterable[int], *, without: Iterable[int] = ()) -> set[str]:
    """What every instance has, and what all share; `without` have no pod."""
    shared = {f"Service/{app}-rpc"}
    each = {
        child
        for at in ordinals
        for child in (
            f"Service/{app}-p2p-{at}",
            f"ConfigMap/{app}-{at}",
            f"PersistentVolumeClaim/pvc-{app}-{at}",
            f"Pod/{app}-{at}",
        )
    }
    return shared | each - {f"Pod/{app}-{at}" for at in without}


def _account(app: str) -> set[str]:
    return {f"ServiceAccount/{app}-vc-sa", f"Role/{app}-vc-r", f"RoleBinding/{app}-vc-rb"}


OWNED: Mapping[str, set[str]] = {
    "minimal": _instances("osmosis-mainnet", range(2)) | _account("osmosis-mainnet"),
    "two_programs": _instances("shielded", range(3)) | _account("shielded"),
    "full": _instances("gaia", range(1, 4), without=[2])
    | _account("gaia")
    | {"Pod/indexer-1", "Pod/indexer-2", "Pod/indexer-3"},
    "sentry": _instances("sentry", range(2))
    | {"Service/sentry-privval-0", "Service/sentry-privval-1"},
}
"""What a CosmosFullNode owns, by the file it is in: kind and name."""


async def owned(client: Client, owner: Object) -> set[str]:
    """What an object controls and is to stay: kind/name."""
    found = set()
    for kind in CHILDREN:
        for each in await client.list(kind, owner.metadata.namespace, live=True):
            held = controller_of(each)
            ours = held is not None and held.uid == owner.metadata.uid
            if ours and not each.deleting:
                found.add(f"{kind.__name__}/{each.metadata.name}")
    return found
