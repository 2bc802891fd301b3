"""Workloads for the checks of their controllers, and what such checks look at."""

from __future__ import annotations

import asyncio
from typing import Any

from conformance.controller_cluster import ControllerCluster
from conformance.target import POLL_SECONDS
from unit.cluster.api import JsonObject

APPS = "apps/v1"
ATTEMPTS = 200


def template(name: str, image: str = "one", **spec: Any) -> JsonObject:
    """A pod template with one container, labelled `app`."""
    pod = {"containers": [{"name": "main", "image": image}], **spec}
    return {"metadata": {"labels": {"app": name}}, "spec": pod}


def workload(name: str, **spec: Any) -> JsonObject:
    """What all workloads have in common."""
    selector = {"matchLabels": {"app": name}}
    return {
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"selector": selector, "template": template(name), **spec},
    }


deployment = replica_set = daemon_set = workload


def stateful_set(name: str, **spec: Any) -> JsonObject:
    return workload(name, serviceName=name, **spec)


def container(obj: JsonObject) -> JsonObject:
    """The first container of a workload's template."""
    found: JsonObject = obj["spec"]["template"]["spec"]["containers"][0]
    return found


def conditions(obj: JsonObject) -> list[tuple[str, str, str, str]]:
    """Type, status, reason and message of each condition, in their order."""
    found = obj["status"].get("conditions") or []
    return [(c["type"], c["status"], c.get("reason", ""), c.get("message", "")) for c in found]


def reasons(obj: JsonObject) -> dict[str, str]:
    """The reason of each condition."""
    return {name: reason for name, _, reason, _ in conditions(obj)}


async def told(cluster: ControllerCluster, name: str, reason: str, count: int) -> list[str]:
    """What events with a reason say of an object, once so many are there, in their order.

    They are written behind the back of what they tell of, and may take a moment.
    """
    for _ in range(ATTEMPTS):
        events = await cluster.events(name, reason)
        if len(events) >= count:
            break
        await asyncio.sleep(POLL_SECONDS)
    return [event["message"] for event in events]
