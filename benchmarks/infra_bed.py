"""An embedded cluster, a modelled provider and an operator, each a process, for `clusters`.

The server is in the process that measures; it keeps objects and does nothing with them. A follower
notes when a Cluster is in which state, and when it is gone.
"""

from __future__ import annotations

import asyncio
import base64
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import msgspec
import yaml
from aiohttp import ClientSession

from benchmarks.subprocesses import module_command, running
from foreign.process import free_ports
from processes.running import running_command
from processes.usage import usage
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.instance import cluster as embedded
from quintant.core import codec
from quintant.core.address import BindAddress
from quintant.core.secret_hosts import url_host
from quintant.operators.infra.api import (
    GROUP,
    HOSTS,
    INFRASTRUCTURE,
    VERSION,
    Cloud,
    Cluster,
    GlobalCloud,
    GlobalInfrastructureProvider,
    InfrastructureClaim,
    InfrastructureProvider,
)
from quintant.operators.infra.builders import infrastructure_claim, provider_address
from quintant.operators.infra.sample import template
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.install_crds import install_crds

NAMESPACE = "default"
KINDS = (
    Cluster, Cloud, GlobalCloud, InfrastructureProvider, GlobalInfrastructureProvider,
    InfrastructureClaim,
)  # fmt: skip
ROOT = f"/apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}"
CORE = f"/api/v1/namespaces/{NAMESPACE}"
PLACES = {
    "clusters": (ROOT, f"{GROUP}/{VERSION}", "Cluster"),
    "clouds": (ROOT, f"{GROUP}/{VERSION}", "Cloud"),
    "infrastructureproviders": (ROOT, f"{GROUP}/{VERSION}", "InfrastructureProvider"),
    "secrets": (CORE, "v1", "Secret"),
}
TEMPLATE_BYTES = 4096
TOKEN = "root"
CALM_CPU, CALM_SECONDS = 0.02, 1.0
"""Seconds of CPU that a process which does nothing spends at most in so many seconds."""
LONGEST_SECONDS = 600.0
AT_ONCE = 16
JSON = {"Content-Type": "application/json"}
MERGE = {"Content-Type": "application/merge-patch+json"}

Plain = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Program:
    """An operator, and how it is started."""

    name: str
    command: Callable[[Path, int], list[str]]
    """Its command line, given a kubeconfig and a port for metrics."""
    metrics: bool = False


def _quintant(way: Path, port: int) -> list[str]:
    flags = ("--kubeconfig", str(way), f"--metrics=127.0.0.1:{port}", "--probes=")
    quiet = ("--no-leader-elect", "--log-level", "warning")
    return [sys.executable, "-m", "quintant", "operator", "infra", *flags, *quiet]


QUINTANT = Program("Quintant", _quintant, metrics=True)
KOPF = Program("kopf", lambda _, __: module_command("operators.infra_kopf"))


@dataclass
class Follower:
    """What a watch shows of Clusters, with the time at which it does."""

    states: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    seen: dict[tuple[str, str], float] = field(default_factory=dict)
    """When a Cluster was last seen to come into a state; the state of who is gone is empty."""
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    async def follow(self, client: Client) -> None:
        """Follow for ever."""
        async for change in client.watch(Cluster, NAMESPACE):
            obj = change.new or change.old
            if obj is None:
                continue
            name, status = obj.metadata.name, obj.status
            state = (status.state or "") if change.new is not None and status is not None else ""
            if change.new is not None and status is not None:
                self.ids[name] = status.cluster_id
            if change.new is None or state != self.states.get(name):
                self.seen[name, state] = monotonic()
            self.states[name] = state
            if change.new is None:
                del self.states[name]
            self._moved.set()

    async def until(self, what: Callable[[], bool], within: float = LONGEST_SECONDS) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(within):
            while not what():
                self._moved.clear()
                await self._moved.wait()

    def in_state(self, names: list[str], *states: str) -> bool:
        """Whether all of these are in one of some states."""
        return all(self.states.get(name) in states for name in names)


@dataclass
class InfraBed:
    """Everything but the operator."""

    cluster: embedded.Cluster
    client: Client
    follower: Follower
    provider: ClientSession
    way: Path
    env: Mapping[str, str]

    async def make(self, names: list[str]) -> None:
        """Create Clusters as fast as the server takes them."""
        for at in range(0, len(names), AT_ONCE):
            await asyncio.gather(*(self._make(name) for name in names[at : at + AT_ONCE]))

    async def _make(self, name: str) -> None:
        await self.post("clusters", name, {"spec": {"tosca": padded_template()}})

    async def post(self, plural: str, name: str, document: Plain) -> Plain:
        """Create an object; as it was stored."""
        meta = document.get("metadata", {}) | {"name": name, "namespace": NAMESPACE}
        root, version, kind = PLACES[plural]
        head = {"apiVersion": version, "kind": kind}
        body = msgspec.json.encode({**head, **document, "metadata": meta})
        path = f"{root}/{plural}"
        found: Plain = msgspec.json.decode(
            await self.client.raw("POST", path, body=body, headers=JSON)
        )
        return found

    async def delete(self, name: str) -> float:
        """Delete a Cluster; seconds until it is gone."""
        began = monotonic()
        await self.client.raw("DELETE", f"{ROOT}/clusters/{name}")
        await self.follower.until(lambda: name not in self.follower.states)
        return self.follower.seen[name, ""] - began

    async def control(self, **asked: Any) -> None:
        """Tell the provider something."""
        async with self.provider.post("/control", json=asked) as answer:
            answer.raise_for_status()

    async def counts(self) -> Plain:
        """What the provider was asked so far."""
        async with self.provider.get("/control") as answer:
            found: Plain = await answer.json()
            return found

    async def fail(self, name: str) -> float:
        """Let a machine of a Cluster fail; when that was."""
        async with self.provider.post(f"/control/fail/{self.follower.ids[name]}") as answer:
            found: float = await answer.json()
            return found

    async def revision(self) -> str:
        """Changes with every write to the server."""
        listed = msgspec.json.decode(await self.client.raw("GET", f"{ROOT}/clusters?limit=1"))
        return str(listed["metadata"]["resourceVersion"])

    async def copies(self, sample: str, names: list[str]) -> None:
        """Clusters like one that an operator made, each with its Secret and infrastructure."""
        cluster = msgspec.json.decode(await self.client.raw("GET", f"{ROOT}/clusters/{sample}"))
        held = f"{CORE}/secrets/{sample}-kubeconfig"
        secret = msgspec.json.decode(await self.client.raw("GET", held))
        await self.control(settle=[f"copy-{name}" for name in names])
        bound = msgspec.json.encode({"status": {"boundClusters": len(names) + 1}})
        await self.client.raw("PATCH", f"{ROOT}/clouds/here/status", body=bound, headers=MERGE)
        for at in range(0, len(names), AT_ONCE):
            group = names[at : at + AT_ONCE]
            await asyncio.gather(*(self._copy(cluster, secret, name) for name in group))

    async def _copy(self, cluster: Plain, secret: Plain, name: str) -> None:
        kept = ("annotations", "labels", "finalizers")
        meta = {key: cluster["metadata"][key] for key in kept if key in cluster["metadata"]}
        noted = {**meta.get("annotations", {}), INFRASTRUCTURE: f"copy-{name}"}
        document = {"metadata": {**meta, "annotations": noted}, "spec": cluster["spec"]}
        made = await self.post("clusters", name, document)
        await self._claim(made, f"copy-{name}")
        ref = cluster["status"]["kubeconfigSecretRef"] | {"name": f"{name}-kubeconfig"}
        own = {"clusterID": f"copy-{name}", "kubeconfigSecretRef": ref}
        status = msgspec.json.encode({"status": cluster["status"] | own})
        path = f"{ROOT}/clusters/{name}/status"
        await self.client.raw("PATCH", path, body=status, headers=MERGE)
        owner = secret["metadata"]["ownerReferences"][0]
        owner = owner | {"uid": made["metadata"]["uid"], "name": name}
        labels = secret["metadata"].get("labels", {})
        labels = {key: name if key.endswith("/cluster") else labels[key] for key in labels}
        annotations = secret["metadata"].get("annotations", {})
        meta = {"labels": labels, "annotations": annotations, "ownerReferences": [owner]}
        copied = {"metadata": meta, "data": secret["data"], "type": secret["type"]}
        await self.post("secrets", f"{name}-kubeconfig", copied)

    async def _claim(self, made: Plain, id: str) -> None:
        provider = await self.client.raw("GET", f"{ROOT}/infrastructureproviders/im")
        address = provider_address(msgspec.json.decode(provider)["spec"]["im"]["url"])
        cluster = codec.decode(Cluster, codec.encode(made))
        await self.client.create(infrastructure_claim(cluster, address, id))


def padded_template() -> Plain:
    """A template of a front and a worker, of as many bytes as people's are."""
    found = template(1)
    found["description"] = "x" * (TEMPLATE_BYTES - len(msgspec.json.encode(found)))
    return found


@asynccontextmanager
async def infra_bed() -> AsyncIterator[InfraBed]:
    """A fresh one: a provider, a Cloud, and no Cluster."""
    config = embedded.ClusterConfig(BindAddress("127.0.0.1", 0))
    with TemporaryDirectory() as folder, running("infra_provider") as process:
        url = f"http://127.0.0.1:{await _port(process)}"
        async with embedded.run_cluster(config) as cluster, ClientSession(url) as provider:
            cluster.server.tokens.add(TOKEN, admin("root"))
            transport = InProcessTransport(cluster.server, TOKEN)
            await install_crds(transport, list(KINDS))
            client = Client(Rest(transport), manager="benchmark")
            way = Path(folder) / "kubeconfig"
            embedded.save_kubeconfig(cluster, way)
            env = {
                "KUBECONFIG": str(way),
                "BENCH_SERVER": cluster.url,
                "BENCH_TOKEN": TOKEN,
                "BENCH_CA": str(_authority(way)),
                "BENCH_PROVIDER": url,
                "BENCH_QUIET": "1",
                "DUMMY_CLOUDS": "true",
            }
            bed = InfraBed(cluster, client, Follower(), provider, way, env)
            await _prepare(bed, url)
            following = asyncio.ensure_future(bed.follower.follow(client))
            try:
                yield bed
            finally:
                following.cancel()
                await asyncio.wait([following])


async def _port(process: subprocess.Popen[bytes]) -> int:
    assert process.stdout is not None
    return int(await asyncio.to_thread(process.stdout.readline))


def _authority(way: Path) -> Path:
    """The authority of a kubeconfig, as a file of its own."""
    (found,) = yaml.safe_load(way.read_text())["clusters"]
    path = way.with_name("ca.crt")
    path.write_bytes(base64.b64decode(found["cluster"]["certificate-authority-data"]))
    return path


async def _prepare(bed: InfraBed, url: str) -> None:
    labels = {"infra.quintant.dev/watch": "true"}
    meta = {"labels": labels, "annotations": {HOSTS: url_host(url)}}
    secret = {"metadata": meta, "stringData": {"username": "us", "password": "pw"}}
    await bed.post("secrets", "im", secret)
    im = {"url": url, "credentialsSecretRef": {"name": "im"}, "maxConcurrentRequests": 32}
    provider = {"spec": {"type": "im", "im": im}}
    await bed.post("infrastructureproviders", "im", provider)
    cloud = {"spec": {"type": "dummy", "providerRef": {"name": "im"}}}
    await bed.post("clouds", "here", cloud)


@dataclass(frozen=True, slots=True)
class RunningProgram:
    """An operator at work."""

    pid: int
    port: int

    async def calm(self) -> None:
        """Wait until it does nothing."""
        last = -1.0
        while (now := usage(self.pid).cpu) - last > CALM_CPU:
            last = now
            await asyncio.sleep(CALM_SECONDS)

    async def queues_empty(self, keys: int) -> None:
        """Wait until it has queued at least so many keys, and has none left to work on."""
        async with ClientSession(f"http://127.0.0.1:{self.port}") as metrics:
            while True:
                found = await _series(metrics)
                busy = found.get("workqueue_depth", 1) + found.get(ACTIVE, 1)
                if found.get("workqueue_adds_total", 0) >= keys and not busy:
                    return
                await asyncio.sleep(0.05)


ACTIVE = "controller_runtime_active_workers"


async def _series(metrics: ClientSession) -> dict[str, float]:
    """The sum of every family; nothing while nobody answers."""
    found: dict[str, float] = {}
    try:
        async with metrics.get("/metrics") as answer:
            text = await answer.text()
    except OSError:
        return found
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            name = name.partition("{")[0]
            found[name] = found.get(name, 0.0) + float(value)
    return found


@contextmanager
def at_work(program: Program, bed: InfraBed, **settings: str) -> Iterator[RunningProgram]:
    """An operator on a bed, for as long as the context lasts."""
    (port,) = free_ports(1)
    command = program.command(bed.way, port)
    with running_command(command, env={**bed.env, **settings}) as process:
        yield RunningProgram(process.pid, port)
