"""What a real API server has nobody for: pods become ready, volumes bound, copies ready, and go.

There is no kubelet, no volume driver and no garbage collector beside it; this is what they would
say, in a few words. Every node answers, and is in sync.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from quintant.api.core import Pod
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.clock import SystemClock, timestamp
from quintant.core.errors import Conflict, NotFound
from quintant.core.object import Object
from quintant.core.resource import resource_of
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.install_crds import install_definitions

LOOK_SECONDS = 0.1
_READY = {"type": "Ready", "status": "True"}
_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {
        "name": "volumesnapshots.snapshot.storage.k8s.io",
        "annotations": {"api-approved.kubernetes.io": "unapproved, for tests only"},
    },
    "spec": {
        "group": "snapshot.storage.k8s.io",
        "names": {"kind": "VolumeSnapshot", "plural": "volumesnapshots"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": _ANY},
            }
        ],
    },
}  # fmt: skip


class NodesInSync:
    """The remote of an operator whose nodes are all well."""

    def __init__(self, chain: str) -> None:
        self._chain = chain

    def connect(self, address: str, port: int) -> NodesInSync:
        return self

    def seed(self) -> bytes:
        return os.urandom(32)

    async def get(self, path: str, query: dict[str, str], seconds: float) -> tuple[int, bytes]:
        sync = {
            "latest_block_height": str(int(time.time())), "catching_up": False,
            "latest_block_time": timestamp(SystemClock().now()), "earliest_block_height": "1",
        }  # fmt: skip
        parts = {"node_info": {"network": self._chain}, "sync_info": sync, "validator_info": {}}
        return 200, msgspec.json.encode({"jsonrpc": "2.0", "id": -1, "result": parts})

    async def close(self) -> None:
        pass


@asynccontextmanager
async def attended(client: Client, namespace: str) -> AsyncIterator[None]:
    """Let objects of a namespace come and go."""
    async with asyncio.TaskGroup() as group:
        attending = group.create_task(_attend(client, namespace))
        yield
        attending.cancel()


@asynccontextmanager
async def snapshots_installed(client: Client) -> AsyncIterator[None]:
    """VolumeSnapshots on a server that had none, and has none afterwards."""
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    await install_definitions(client.rest.transport, [_DEFINITION])
    yield
    await client.raw("DELETE", f"{definitions}/{_DEFINITION['metadata']['name']}")


async def _attend(client: Client, namespace: str) -> None:
    kinds: tuple[type[Object], ...] = (Pod, PersistentVolumeClaim, VolumeSnapshot)
    while True:
        for kind in kinds:
            for each in await client.list(kind, namespace, live=True):
                with suppress(NotFound, Conflict):
                    await _care(client, each)
        await asyncio.sleep(LOOK_SECONDS)


async def _care(client: Client, obj: Object) -> None:
    if obj.deleting:
        await _merge(client, obj, {"metadata": {"finalizers": None}})
        return
    status: dict[str, Any]
    match obj:
        case Pod() if not obj.ready:
            address = {"podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}]}
            moment = timestamp(SystemClock().now())
            ready = {**_READY, "lastTransitionTime": moment}
            status = {"phase": "Running", "conditions": [ready], **address}
            await _merge(client, obj, {"status": status}, "/status")
        case PersistentVolumeClaim() if obj.status.phase != "Bound":
            size = obj.spec.resources.requests
            status = {"phase": "Bound", "capacity": dict(size)}
            await _merge(client, obj, {"status": status}, "/status")
        case VolumeSnapshot() if obj.status is None or not obj.status.ready_to_use:
            moment = timestamp(SystemClock().now())
            status = {"readyToUse": True, "restoreSize": "1Gi", "creationTime": moment}
            await _merge(client, obj, {"status": status}, "/status")


async def _merge(client: Client, obj: Object, change: dict[str, Any], sub: str = "") -> None:
    place = resource_of(type(obj)).path(obj.metadata.namespace)
    await client.raw(
        "PATCH",
        f"{place}/{obj.metadata.name}{sub}",
        body=msgspec.json.encode(change),
        headers={"Content-Type": "application/merge-patch+json"},
    )
