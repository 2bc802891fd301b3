"""An API server full of pods and networks, served as `server` does.

Usage: `python many_pods_server.py FOLDER`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from quintant import Client, ObjectMeta
from quintant.client.rest import MERGE, Rest
from quintant.client.transport import JSON, ApiRequest, InProcessTransport
from quintant.runtime.manager.install_crds import install_crds
from scenarios.many_pods_program import Network, NetworkSpec
from scenarios.server import run

PODS, NETWORKS = 10_000, 2_000
# With this a pod takes about 5 kB, as pods in clusters do.
ARGUMENT = "x" * 3_500

COLLECTION = "/api/v1/namespaces/default/pods"


def pod(number: int) -> dict[str, Any]:
    labels = {"app": f"app-{number % 100}", "network": f"n{number % NETWORKS}"}
    container = {"name": "main", "image": "example.org/app:1", "args": [ARGUMENT]}
    return {
        "metadata": {"name": f"p{number}", "labels": labels},
        "spec": {"containers": [container]},
    }


def status(number: int) -> dict[str, Any]:
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    address = f"10.0.{number // 256}.{number % 256}"
    return {"status": {"phase": "Running", "podIP": address, "conditions": [condition]}}


async def fill(transport: InProcessTransport) -> None:
    """Create all pods and networks."""
    rest = Rest(transport)

    async def send(method: str, path: str, form: str, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        await rest.send(ApiRequest(method, path, headers={"content-type": form}, body=body))

    for number in range(PODS):
        await send("POST", COLLECTION, JSON, pod(number))
        await send("PATCH", f"{COLLECTION}/p{number}/status", MERGE, status(number))
    await install_crds(transport, [Network])
    for number in range(NETWORKS):
        meta = ObjectMeta(name=f"n{number}", namespace="default")
        spec = NetworkSpec(network_id=f"n{number}")
        await Client(rest).create(Network(metadata=meta, spec=spec))


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), fill))
