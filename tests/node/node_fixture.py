"""A cluster with a real node, and the requests of a test to it and to its pods."""

from __future__ import annotations

import asyncio
import math
import os
import sys
from base64 import b64decode
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import msgspec

import patience
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.instance.cluster import Cluster
from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.cluster.kubelet.process.orphans import AGENT
from unit.cluster.api import PODS, Api, Events, JsonObject

IMAGE = "quintant/echo"
INSPECTOR = ImageProgram(
    image="example/inspector",
    argv=(sys.executable, str(Path(__file__).with_name("inspector.py"))),
    env={"PYTHONUNBUFFERED": "1"},
)
"""An echo that shows what its program sees: for the image tables of tests alone."""
PORT = 8080
PATIENCE_SECONDS = 20.0
"""How long a test waits for something on a quiet machine before it fails."""


class NodeCluster:
    """A cluster, and a test that may do everything in it."""

    def __init__(self, cluster: Cluster) -> None:
        cluster.server.tokens.add("root", admin("root"))
        self.api = Api(cluster.server, "root")
        self.cluster = cluster

    async def run(self, name: str, *args: str, **more: Any) -> JsonObject:
        """Create a pod with one container, and wait until it answers."""
        container: JsonObject = {"name": "main", "image": INSPECTOR.image, "args": list(args)}
        container |= more.pop("container", {})
        await self.create(name, containers=[container], **more)
        pod = await self.until(name, ready)
        await answering(pod)
        return pod

    async def create(self, name: str, **spec: Any) -> None:
        """Create a pod on the node."""
        whole = {"nodeName": "local", **spec}
        await self.api.create(PODS, {"metadata": {"name": name}, "spec": whole})

    async def until(self, name: str, wanted: Any) -> JsonObject:
        """A pod as soon as it is as wanted."""
        pod: JsonObject = {}
        try:
            async with patience.within(PATIENCE_SECONDS), self._watch(name) as events:
                while not pod or not wanted(pod):
                    pod = (await events.next(math.inf))["object"]
        except TimeoutError:
            raise AssertionError(f"not in time; the last status is {pod.get('status')}") from None
        return pod

    async def gone(self, name: str) -> None:
        """Wait until a pod is gone."""
        async with patience.within(PATIENCE_SECONDS), self._watch(name) as events:
            # What happens from here on is told by the watch.
            there = (await self.api.send("GET", f"{PODS}/{name}")).status != 404
            while there and (await events.next(math.inf))["type"] != "DELETED":
                pass

    def _watch(self, name: str) -> AbstractAsyncContextManager[Events]:
        return self.api.watch(PODS, fieldSelector=f"metadata.name={name}")

    async def account(self, name: str) -> tuple[JsonObject, JsonObject]:
        """A new service account as a pod has it: a volume, and where to mount it."""
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        await self.api.create(accounts, {"metadata": {"name": name}})
        authority = {"metadata": {"name": "ca"}, "data": {"ca.crt": self.authority()}}
        await self.api.create("/api/v1/namespaces/default/configmaps", authority)
        own = {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}
        sources = [
            {"serviceAccountToken": {"path": "token"}},
            {"configMap": {"name": "ca"}},
            {"downwardAPI": {"items": [own]}},
        ]
        where = "/var/run/secrets/kubernetes.io/serviceaccount"
        volume = {"name": "account", "projected": {"sources": sources}}
        return volume, {"name": "account", "mountPath": where}

    def authority(self) -> str:
        """The certificate that vouches for the API server."""
        document = msgspec.json.decode(self.cluster.kubeconfig.reveal())
        encoded: str = document["clusters"][0]["cluster"]["certificate-authority-data"]
        return b64decode(encoded).decode()

    async def logs(self, name: str, **query: Any) -> str:
        """What a pod printed."""
        reply = await self.api.send("GET", f"{PODS}/{name}/log", **query)
        assert reply.status == 200, reply.body
        return reply.body.decode()


async def ask(pod: JsonObject, path: str, port: int = PORT) -> str:
    """What a pod's program answers."""
    return (await fetch(pod["status"]["podIP"], port, path))[1]


async def tell(pod: JsonObject, path: str) -> str:
    """What a pod's program answers when it is told to do something."""
    return (await fetch(pod["status"]["podIP"], PORT, path, method="POST"))[1]


async def answering(pod: JsonObject) -> None:
    """Wait until a pod's program listens; a probe would do so once in a second."""
    async with patience.within(PATIENCE_SECONDS):
        while True:
            try:
                await ask(pod, "/readyz")
                return
            except OSError:
                await asyncio.sleep(0.02)


async def fetch(
    host: str, port: int, path: str, *, method: str = "GET", name: str = "localhost"
) -> tuple[int, str]:
    """Status and body of a request; `name` is its Host."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(f"{method} {path} HTTP/1.1\r\nhost: {name}\r\nconnection: close\r\n\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return int(head.split()[1]), body.decode()


def ready(pod: JsonObject) -> bool:
    conditions = pod.get("status", {}).get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def ended(pod: JsonObject) -> bool:
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def restarted(pod: JsonObject) -> bool:
    statuses = pod.get("status", {}).get("containerStatuses", ())
    return any(each["restartCount"] and each["state"].get("running") for each in statuses)


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for yet does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def children(kubelet: int) -> list[int]:
    """The processes that carry the mark of an agent, by its process id."""
    return marked(f"{AGENT}={kubelet}-")


def marked(variable: str) -> list[int]:
    """The processes that run with such a variable, by how it begins."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environ = (entry / "environ").read_bytes()
        except OSError:
            continue
        if variable.encode() in environ and alive(int(entry.name)):
            found.append(int(entry.name))
    return found


async def vanished(*pids: int) -> None:
    """Wait until processes are gone."""
    async with patience.within(PATIENCE_SECONDS):
        while any(map(alive, pids)):  # noqa: ASYNC110 - nobody tells when others' children end
            await asyncio.sleep(0.02)


def folders() -> set[str]:
    """The folders of agents on this machine, those of this process."""
    place = Path(f"/tmp/quintant-{os.getuid()}")
    return {each.name for each in place.glob(f"node-{os.getpid()}-*")}
