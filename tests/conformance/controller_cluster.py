"""A cluster whose controllers work, a namespace in it, and a kubelet: for checks of controllers.

    async def test_…(cluster: ControllerCluster) -> None:
        await cluster.create(cluster.path("deployments", api="apps/v1"), deployment("a"))
        await cluster.until("deployments", "a", lambda it: it["status"].get("readyReplicas") == 2,
                             api="apps/v1")

Checks run with a namespace and nodes of their own. The real cluster is one for all of them, so
what has no namespace is named after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from conformance.kubectl import Kubectl, programs
from conformance.kubelet import Kubelet
from conformance.target import POLL_SECONDS, Target, decoded
from quintant import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiResponse
from unit.cluster.api import JsonObject

WITHIN = 30.0
"""Seconds for what controllers do: a real one on a loaded machine takes its time."""
QUIET_SECONDS = 1.0
"""How long nothing has to happen before a check believes that nothing will."""


class ControllerCluster(Target):
    """Requests as the administrator, the kubelet of the namespace, and what checks wait for."""

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        super().__init__(HttpTransport(Config.load(kubeconfig)), namespace)
        self.kubeconfig = kubeconfig
        self.kubelet = Kubelet(self)

    def kubectl(self, cache: Path) -> Kubectl:
        """A kubectl of the administrator, in the namespace."""
        return Kubectl(programs()[-1], self.kubeconfig, cache, self.namespace)

    async def until(
        self, plural: str, name: str, holds: Callable[[JsonObject], object], *, api: str = "v1"
    ) -> JsonObject:
        """The object as soon as it is as it should be; fails with the last state seen."""
        return await self.found(self.path(plural, name, api), holds)

    async def until_all(
        self,
        plural: str,
        holds: Callable[[list[JsonObject]], object],
        *,
        api: str = "v1",
        labels: str = "",
    ) -> list[JsonObject]:
        """All objects of a kind in the namespace, by name, as soon as they are as they should."""
        query = {"labelSelector": labels} if labels else {}
        listed = await self.found(
            self.path(plural, api=api), lambda it: holds(it["items"]), **query
        )
        items: list[JsonObject] = listed["items"]
        return items

    async def all(self, plural: str, *, api: str = "v1", labels: str = "") -> list[JsonObject]:
        """All objects of a kind in the namespace, by name."""
        return await self.until_all(plural, lambda _: True, api=api, labels=labels)

    async def until_gone(self, plural: str, name: str, *, api: str = "v1") -> None:
        """Wait until there is no such object."""
        await self.gone(self.path(plural, name, api))

    async def gone(self, path: str) -> None:
        """Wait until there is nothing at a path."""
        await self._until(path, lambda reply: reply.status == 404)

    async def quiet(self, plural: str, *, api: str = "v1") -> list[JsonObject]:
        """All objects of a kind, once none of them has changed for a while."""
        seen: list[JsonObject] = [{}]
        now = await self.all(plural, api=api)
        while seen != now:
            await asyncio.sleep(QUIET_SECONDS)
            seen, now = now, await self.all(plural, api=api)
        return now

    async def events(self, about: str, reason: str = "") -> list[JsonObject]:
        """What was told of an object of that name, in the order of telling."""
        selector = f"involvedObject.name={about}" + (f",reason={reason}" if reason else "")
        found = await self.get(self.path("events"), fieldSelector=selector)
        return sorted(found["items"], key=lambda event: int(event["metadata"]["resourceVersion"]))

    async def told(self, about: str, reason: str) -> JsonObject:
        """The first event about an object of that name for that reason, once there is one."""
        selector = f"involvedObject.name={about},reason={reason}"
        path = self.path("events")
        listed = await self.found(path, lambda it: it["items"], fieldSelector=selector)
        event: JsonObject = listed["items"][0]
        return event

    async def found(
        self, path: str, holds: Callable[[JsonObject], object], **query: Any
    ) -> JsonObject:
        """What is at a path, as soon as it is as it should be."""

        def found(reply: ApiResponse) -> object:
            return reply.status == 200 and holds(decoded(reply.body))

        return decoded((await self._until(path, found, **query)).body)

    async def _until(
        self, path: str, holds: Callable[[ApiResponse], object], **query: Any
    ) -> ApiResponse:
        end = asyncio.get_running_loop().time() + WITHIN
        while not holds(reply := await self.send("GET", path, **query)):
            assert asyncio.get_running_loop().time() < end, f"{path} stays as it is: {reply.body!r}"
            await asyncio.sleep(POLL_SECONDS)
        return reply


@asynccontextmanager
async def prepared(cluster: ControllerCluster) -> AsyncIterator[ControllerCluster]:
    """A cluster with its namespace and a kubelet at work, for as long as the context lasts."""
    try:
        namespace = {"metadata": {"name": cluster.namespace}}
        await cluster.create("/api/v1/namespaces", namespace)
        # Pods need it; where nobody makes it, or nobody has yet, we do.
        account = {"metadata": {"name": "default"}}
        await cluster.send("POST", cluster.path("serviceaccounts"), account)
        async with cluster.kubelet.running():
            yield cluster
        await _cleared(cluster)
    finally:
        await cluster.transport.close()


async def _cleared(cluster: ControllerCluster) -> None:
    """Leave nothing that would keep the controllers busy, or find its way to others' nodes."""
    await cluster.send("DELETE", f"/api/v1/namespaces/{cluster.namespace}")
    await cluster.send("DELETE", cluster.path("pods"), {"gracePeriodSeconds": 0})
