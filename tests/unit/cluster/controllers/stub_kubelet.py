"""The least that a kubelet does, for the tests of controllers: pods become ready, or go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from quintant.core.clock import LoopClock, timestamp
from unit.cluster.api import PODS, Api, JsonObject

APPS = "/apis/apps/v1/namespaces/default"
STEP_SECONDS = 0.1

Judge = Callable[[JsonObject], bool]


def workload(name: str = "a", image: str = "one", **spec: Any) -> JsonObject:
    """What all workloads have in common."""
    pod = {"containers": [{"name": "main", "image": image}]}
    template = {"metadata": {"labels": {"app": name}}, "spec": pod}
    selector = {"matchLabels": {"app": name}}
    return {
        "metadata": {"name": name},
        "spec": {"selector": selector, "template": template, **spec},
    }


@asynccontextmanager
async def attended(api: Api, works: Judge = lambda _: True) -> AsyncIterator[None]:
    """Pods become ready if they work, and go when they are deleted, while the context lasts."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(_attend(api, works))
        try:
            yield
        finally:
            task.cancel()


async def _attend(api: Api, works: Judge) -> None:
    while True:
        for pod in (await api.get(PODS))["items"]:
            await _care(api, pod, works)
        await asyncio.sleep(STEP_SECONDS)


async def _care(api: Api, pod: JsonObject, works: Judge) -> None:
    path = f"{PODS}/{pod['metadata']['name']}"
    if "deletionTimestamp" in pod["metadata"]:
        await api.send("DELETE", path, {"gracePeriodSeconds": 0})
    elif pod["status"]["phase"] == "Pending":
        await api.merge(f"{path}/status", {"status": {"phase": "Running"}})
    elif not pod["status"].get("conditions") and works(pod):
        await ready(api, pod["metadata"]["name"])


async def ready(api: Api, name: str) -> None:
    """Make a pod ready, from now on."""
    since = timestamp(LoopClock().now())
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": since}
    status = {"phase": "Running", "conditions": [condition]}
    await api.merge(f"{PODS}/{name}/status", {"status": status})


async def settled(api: Api, plural: str, name: str = "a", seconds: float = 60.0) -> JsonObject:
    """An object, after everything had time to settle."""
    await asyncio.sleep(seconds)
    return await api.get(f"{APPS}/{plural}/{name}")


async def pods(api: Api) -> list[JsonObject]:
    found: list[JsonObject] = (await api.get(PODS))["items"]
    return found
