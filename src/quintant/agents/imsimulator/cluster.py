"""A made cluster: `quintant up` as a process, and the nodes that were added to it.

The process is the front machine. Every other machine is a Node of that cluster which runs pods as
processes, as the front machine does. The process ends with this one, however that ends.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from quintant.agents.imsimulator.template import MachineSpec
from quintant.die_with_parent import die_with_parent
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair, load_key_pair

CALL_SECONDS = 10.0
READY_SECONDS = 60.0
"""For a node to be ready, on a slow laptop."""
LOOK_SECONDS = 0.1
GRACE_SECONDS = 5.0
"""For a cluster to end its pods."""
RUNS = "node.quintant.dev/runs"
"""The label of a Node that runs pods as processes."""
PODS = 20
NODES = "/api/v1/nodes"
_READY = b"export KUBECONFIG="


class ClusterFailed(Exception):
    """The cluster could not be made or changed; the text says why."""


class MadeCluster:
    """One cluster, from its start to its end."""

    def __init__(self, listen: str, kubeconfig: Path) -> None:
        self._listen, self._path = listen, kubeconfig
        self._process: Process | None = None

    @property
    def runs(self) -> bool:
        """Whether its process is there."""
        return self._process is not None and self._process.returncode is None

    @property
    def kubeconfig(self) -> str:
        """The way in."""
        return self._path.read_text()

    async def start(self) -> None:
        """Start it, and wait until it serves."""
        python = (sys.executable, "-I")
        command = (*python, "-m", "quintant", "up", "--listen", f"{self._listen}:0")
        self._process = await asyncio.create_subprocess_exec(
            *die_with_parent((*command, "--kubeconfig", str(self._path))),
            stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL,
        )  # fmt: skip
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            if line.startswith(_READY):
                return
        raise ClusterFailed(f"quintant up ended with {await self._process.wait()}")

    async def stop(self) -> None:
        """End it, politely first, and forget the way in."""
        process = self._process
        if process is not None and process.returncode is None:
            process.terminate()
            try:
                async with asyncio.timeout(GRACE_SECONDS):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
        self._path.unlink(missing_ok=True)

    async def add_node(self, name: str, spec: MachineSpec) -> None:
        """Add a machine that runs pods."""
        capacity = {"cpu": str(spec.cpus), "memory": f"{spec.mebibytes}Mi", "pods": str(PODS)}
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {RUNS: "processes"}},
            "status": {"capacity": capacity},
        }
        await self._ask("POST", NODES, node)

    async def remove_node(self, name: str) -> None:
        """Take a machine away, with the pods on it."""
        await self._ask("DELETE", f"{NODES}/{name}")

    async def nodes_ready(self) -> None:
        """Wait until every node is ready."""
        async with asyncio.timeout(READY_SECONDS):
            while True:
                nodes = (await self._ask("GET", NODES))["items"]
                if nodes and all(_ready(node) for node in nodes):
                    return
                await asyncio.sleep(LOOK_SECONDS)

    async def _ask(self, method: str, path: str, body: object = None) -> Any:
        return await asyncio.to_thread(self._call, method, path, body)

    def _call(self, method: str, path: str, body: object) -> Any:
        server, context = _way(json.loads(self.kubeconfig))
        connection = HTTPSConnection(server, timeout=CALL_SECONDS, context=context)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"content-type": "application/json"})
            answer = connection.getresponse()
            document = json.loads(answer.read())
        except (OSError, HTTPException, ValueError) as error:
            raise ClusterFailed(f"{method} {path}: {error}") from None
        finally:
            connection.close()
        if answer.status >= 400:
            raise ClusterFailed(f"{method} {path}: {document.get('message', answer.status)}")
        return document


def _way(kubeconfig: dict[str, Any]) -> tuple[str, ssl.SSLContext]:
    """Address and credentials of a kubeconfig that `quintant up` wrote."""
    cluster, user = kubeconfig["clusters"][0]["cluster"], kubeconfig["users"][0]["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    pair = KeyPair(
        Sensitive(base64.b64decode(user["client-certificate-data"])),
        Sensitive(base64.b64decode(user["client-key-data"])),
    )
    load_key_pair(context, pair)
    return urlsplit(cluster["server"]).netloc, context


def _ready(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
