"""`kubectl scale` of an operator whose replicas all work: objects at rest are written by nobody."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import patience
from conformance.kubectl import Kubectl, programs
from quintant.cli.operators.manifests import IMAGE
from scenarios.up import up

NAMESPACE, NAME = "portal-system", "portal"
EXPOSES = 40
ROLLOUT_SECONDS, SHARE_SECONDS = 120.0, 90.0
LOOK_SECONDS = 1.0
QUINTANT = Path(sys.executable).with_name("quintant")


def expose(number: int) -> dict[str, Any]:
    """A PortalExpose that waits for its Service, and says so."""
    return {
        "apiVersion": "portal.gosuda.org/v1alpha1",
        "kind": "PortalExpose",
        "metadata": {"name": f"shop-{number}", "namespace": NAMESPACE},
        "spec": {
            "app": {"name": f"shop-{number}", "service": {"name": "none", "port": 80}},
            "relay": {"targets": [{"name": "r", "url": "wss://relay.example.com/relay"}]},
        },
    }


@pytest.fixture
def kubectl(tmp_path: Path) -> Iterator[Kubectl]:
    """kubectl, and a cluster whose pods are processes."""
    if not programs():
        pytest.skip("there is no kubectl")
    with up(tmp_path) as kubeconfig:
        yield Kubectl(programs()[0], kubeconfig, tmp_path / "cache", NAMESPACE)


async def read(kubectl: Kubectl, *words: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(await kubectl("get", *words, "-o", "json"))["items"]
    return items


async def until(seconds: float, is_so: Callable[[], Any]) -> None:
    async with patience.within(seconds):
        while not await is_so():  # noqa: ASYNC110  # kubectl is asked
            await asyncio.sleep(LOOK_SECONDS)


async def quintant(*words: str, kubeconfig: Path) -> str:
    """What a command prints; nothing if it fails, as it does before there is a map."""
    environ = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    process = await asyncio.create_subprocess_exec(
        QUINTANT, *words, env=environ, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    return "" if process.returncode else out.decode()


async def shares(kubectl: Kubectl) -> list[int]:
    """How many ranges each member holds."""
    words = ("shards", NAME, "-n", NAMESPACE, "-o", "json")
    printed = await quintant(*words, kubeconfig=kubectl.kubeconfig)
    members = json.loads(printed)["members"] if printed else []
    return sorted(len(member["held"]) for member in members if member["state"] == "ready")


async def versions(kubectl: Kubectl) -> dict[str, str]:
    found = await read(kubectl, "portalexposes", "-A")
    return {it["metadata"]["name"]: it["metadata"]["resourceVersion"] for it in found}


async def test_members_that_kubectl_scales_write_to_no_object_at_rest(kubectl: Kubectl) -> None:
    words = ("manifests", NAME, "--shards", "--image", IMAGE, "--replicas", "1")
    made = await quintant(*words, kubeconfig=kubectl.kubeconfig)
    await kubectl("apply", "-f", "-", given=made)

    async def rolled_out(replicas: int) -> None:
        async def all_ready() -> bool:
            (deployment,) = await read(kubectl, "deployments")
            return bool(deployment["status"].get("readyReplicas", 0) == replicas)

        async def divided() -> bool:
            held = await shares(kubectl)
            return len(held) == replicas and max(held) - min(held) <= 2

        await until(ROLLOUT_SECONDS, all_ready)
        await until(SHARE_SECONDS, divided)

    async def all_judged() -> bool:
        found = await read(kubectl, "portalexposes", "-A")
        return len(found) == EXPOSES and all(it.get("status", {}).get("phase") for it in found)

    await rolled_out(1)
    exposes = {"apiVersion": "v1", "kind": "List", "items": [expose(n) for n in range(EXPOSES)]}
    await kubectl("create", "-f", "-", given=json.dumps(exposes))
    await until(ROLLOUT_SECONDS, all_judged)
    before = await versions(kubectl)
    for replicas in (5, 2):
        await kubectl("scale", "deployment", NAME, f"--replicas={replicas}")
        await rolled_out(replicas)
    assert await versions(kubectl) == before
