"""A cluster with a scheduler and simulated nodes, for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.common.node_heartbeat import HeartbeatTimes
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.scheduler import scheduler
from quintant.cluster.simulated.component import simulator
from quintant.cluster.simulated.fleet import Fleet
from quintant.cluster.simulated.stages import Stage
from quintant.core.clock import LoopClock, Random
from unit.cluster.api import PODS, Api, JsonObject, server

NODES = "/api/v1/nodes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


@asynccontextmanager
async def simulated(
    nodes: int = 1,
    *,
    stages: Sequence[Stage] = (),
    others: Sequence[Component] = (),
    on: ApiServer | None = None,
    times: HeartbeatTimes = HeartbeatTimes(),
) -> AsyncIterator[Api]:
    """A server with roles, a scheduler, and simulated nodes."""
    served, clock = on or server(rbac=True), LoopClock()
    served.tokens.add("admin", admin())
    parts = (scheduler(), simulator(Fleet(nodes), stages=stages, clock=clock, times=times), *others)
    async with AsyncExitStack() as stack:
        for part in parts:
            running = run_component(served, part, clock, Random(0))
            await stack.enter_async_context(running)
        yield Api(served, "admin")


def pod(
    name: str, *, fate: str = "", labels: Any = None, meta: Any = None, **spec: Any
) -> JsonObject:
    """A pod of an image that nobody can run."""
    notes = {"simulated.quintant.dev/fate": fate} if fate else {}
    about = {"name": name, "annotations": notes, "labels": labels or {}, **(meta or {})}
    return {"metadata": about, "spec": {"containers": [{"name": "c", "image": "nginx"}], **spec}}


async def read(api: Api, name: str) -> JsonObject:
    """A pod."""
    return await api.get(f"{PODS}/{name}")


async def phase(api: Api, name: str) -> str:
    """The phase of a pod."""
    found: str = (await read(api, name))["status"]["phase"]
    return found


def condition(obj: JsonObject, name: str) -> str:
    """The status of a condition."""
    found = {each["type"]: each["status"] for each in obj["status"].get("conditions", ())}
    return str(found.get(name, ""))
