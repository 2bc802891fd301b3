"""How Krake's infrastructure controller works: five workers, each of which waits until it is done.

Its constants are its own: a debounce of a second, five seconds before a deletion is queued, thirty
between looks. It runs under virtual time, where what takes hours is over at once.
"""

from __future__ import annotations

import asyncio
import time

import msgspec

from benchmarks.infra_model import ProviderModel
from quintant.core.clock import monotonic
from quintant.core.errors import NotFound
from quintant.operators.infra.api import FINALIZER, Cluster, ClusterStatus
from quintant.operators.infra.sample import template
from quintant.testing import InProcessCluster
from quintant.testing import run as virtual

WORKERS = 5
DEBOUNCE, DELETION_DELAY, POLL = 1.0, 5.0, 30.0
NAMESPACE = "default"


class WaitingController:
    """Makes and deletes Clusters, as many at once as it has workers."""

    def __init__(self, cluster: InProcessCluster, model: ProviderModel) -> None:
        self._client, self._model = cluster.client, model
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._queued: set[str] = set()

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(self._work())
            async for change in self._client.watch(Cluster, NAMESPACE):
                if change.new is not None:
                    self._put(change.new)

    def _put(self, cluster: Cluster) -> None:
        name, deleted = cluster.metadata.name, cluster.deleting
        known = cluster.status is not None and cluster.status.state == "ONLINE"
        key = f"{name}/{deleted}"
        if key in self._queued or (known and not deleted):
            return
        self._queued.add(key)
        delay = DELETION_DELAY if deleted else DEBOUNCE
        asyncio.get_running_loop().call_later(delay, self._queue.put_nowait, name)

    async def _work(self) -> None:
        while True:
            name = await self._queue.get()
            found = await self._client.find(Cluster, name, NAMESPACE, live=True)
            if found is None:
                continue
            if found.deleting:
                await self._delete(found)
            elif found.status is None:
                await self._create(found)

    async def _create(self, cluster: Cluster) -> None:
        id = self._model.create(b"")
        status = ClusterStatus(state="CREATING", cluster_id=id)
        await self._client.set_status(cluster, status)
        await self._wait(id, "configured")
        await self._client.set_status(cluster, ClusterStatus(state="ONLINE", cluster_id=id))

    async def _delete(self, cluster: Cluster) -> None:
        if cluster.status is not None:
            self._model.delete(cluster.status.cluster_id)
            await self._wait(cluster.status.cluster_id, None)
        patch = [{"op": "remove", "path": "/metadata/finalizers"}]
        await self._client.json_patch(Cluster, cluster.metadata, patch)

    async def _wait(self, id: str, word: str | None) -> None:
        """Look every thirty seconds until it is as it should be; None is gone."""
        while True:
            state = self._model.state(id)
            if (state[0] if state is not None else None) == word:
                return
            await asyncio.sleep(POLL)


class Figures(msgspec.Struct):
    """Seconds from a deletion until its Cluster is gone."""

    alone: list[float]
    beside: list[float]
    cpu: float
    """What it cost to find that out."""


def measure(clusters: int, trials: int, create_seconds: float) -> Figures:
    """Delete some Clusters alone, and some beside many that are being made."""
    return virtual(_measure(clusters, trials, create_seconds))


async def _measure(clusters: int, trials: int, create_seconds: float) -> Figures:
    began = time.process_time()
    cluster = InProcessCluster()
    await cluster.install(Cluster)
    model = ProviderModel(monotonic)
    controller = WaitingController(cluster, model)
    working = asyncio.ensure_future(controller.run())
    try:
        short = [f"short-{number}" for number in range(2 * trials)]
        for name in short:
            await _make(cluster, name)
        for name in short:
            await cluster.eventually(Cluster, name, until=_online, within=86_400)
        alone = [await _deleted(cluster, name) for name in short[:trials]]
        model.create_seconds = create_seconds
        for number in range(clusters):
            await _make(cluster, f"long-{number}")
        await asyncio.sleep(POLL)
        beside = await asyncio.gather(*(_deleted(cluster, name) for name in short[trials:]))
        return Figures(alone, beside, time.process_time() - began)
    finally:
        working.cancel()
        await asyncio.wait([working])
        await cluster.close()


async def _make(cluster: InProcessCluster, name: str) -> None:
    meta = {"name": name, "namespace": NAMESPACE, "finalizers": [FINALIZER]}
    head = {"apiVersion": "infra.quintant.dev/v1alpha1", "kind": "Cluster"}
    body = {**head, "metadata": meta, "spec": {"tosca": template(1)}}
    path = f"/apis/infra.quintant.dev/v1alpha1/namespaces/{NAMESPACE}/clusters"
    await cluster.client.raw("POST", path, body=msgspec.json.encode(body))


def _online(cluster: Cluster) -> bool:
    return cluster.status is not None and cluster.status.state == "ONLINE"


async def _deleted(cluster: InProcessCluster, name: str) -> float:
    began = monotonic()
    found = await cluster.get(Cluster, name)
    try:
        await cluster.client.delete(found)
        await cluster.wait_deleted(Cluster, name, within=10_000_000)
    except NotFound:
        pass
    return monotonic() - began


__all__ = ["Figures", "measure"]
