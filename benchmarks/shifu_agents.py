"""deviceShifus over HTTP: ours beside upstream's, before the same device and API server.

Also: how long it takes from an EdgeDevice to an answer of its device.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.report import Budget, Table, times
from benchmarks.shifu_program import controller
from benchmarks.subprocesses import running
from benchmarks.tunnel_load import repeat
from foreign.catalogue import DEVICESHIFU_HTTP
from foreign.errors import ProgramError
from foreign.process import free_ports
from processes.running import running_command
from processes.usage import MEGABYTE, usage
from quintant.api.core import ConfigMap, Pod
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.instance.cluster import Cluster, ClusterConfig, run_cluster
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from quintant.core.clock import parse_timestamp
from quintant.core.object import ObjectMeta
from quintant.operators.shifu.api.device import EdgeDevice, EdgeDeviceSpec
from quintant.operators.shifu.builders.accounts import OURS, agent_accounts
from quintant.runtime.cache.client import Client
from shifu_site.world import DEVICES, OPTIONS, SHIFUS, bare_cluster, prepare

FACADE = 8080
DEVICE = "127.66.7.3"
PLACES = {"ours": "127.66.7.1", "theirs": "127.66.7.2"}
CONNECTIONS = 16
START_SECONDS = 7.0
"""Upstream's agent tells nothing in its first five."""
REST_SECONDS = 10.0
DEARER = 1.5
SLOWER_MS = 2.0
APPLIED_SECONDS = 2.0
CONFIG = {
    "instructions": "instructions: {value: }",
    "telemetries": (
        "telemetrySettings: {telemetryUpdateIntervalInMilliseconds: 1000}\n"
        "telemetries: {health: {properties: {instruction: value}}}"
    ),
}
METHOD = (
    "one device that costs little, two agents with the same ConfigMap, an embedded API server. A "
    "quarter of {requests:,} instructions one after another (p50), then all over {connections} "
    "connections; CPU and memory are the kernel's for the agent's process. Before that {rest:g} s "
    "at rest, with a reading every second: requests at the API server, and those that write."
)
APPLYING = (
    "an embedded cluster whose pods are processes, the operator beside it; from the moment from "
    "which a device may be composed, {settle:g} s after its creationTimestamp, which are for a "
    "Deployment of the user's own, to the first answer of the device through its deviceShifu. One "
    "after another; the first does not count."
)


@dataclass(frozen=True)
class AgentFigures:
    """What one agent takes."""

    megabytes: float
    cpu_ms: float
    p50: float
    """Milliseconds."""
    asked: float
    """Requests a second at rest."""
    wrote: float
    """Writes a second at rest."""


def agents_table(requests: int, say: Callable[[str], None]) -> Table:
    """Both agents; ours alone where upstream's cannot be built."""
    programs: dict[str, tuple[str, ...]] = {
        "ours": (sys.executable, "-m", "quintant", "agent", "deviceshifu")
    }
    try:
        programs["theirs"] = (str(DEVICESHIFU_HTTP.provide(os.environ, report=say)),)
    except ProgramError as error:
        say(f"upstream's agent left out: {error}")
    found = asyncio.run(_measure(programs, requests))
    names = {"ours": "shifu", "theirs": "upstream's, in Go"}
    rows = [
        (
            names[who], f"{each.megabytes:.0f} MB", f"{each.cpu_ms:.2f} ms", f"{each.p50:.2f} ms",
            f"{each.asked:.1f}/s", f"{each.wrote:.1f}/s",
        )
        for who, each in found.items()
    ]  # fmt: skip
    return Table(
        "A deviceShifu over HTTP",
        METHOD.format(requests=requests, connections=CONNECTIONS, rest=REST_SECONDS),
        ("", "RSS", "CPU of an instruction", "p50", "requests at rest", "writes at rest"),
        rows,
        _verdicts(**found),
    )


def _verdicts(ours: AgentFigures, theirs: AgentFigures | None = None) -> list[Budget]:
    still = Budget("no write at rest", f"{ours.wrote:.1f}/s", ours.wrote == 0)
    if theirs is None:
        return [still]
    more = ours.p50 - theirs.p50
    return [
        Budget(
            f"at most {DEARER:g} times the memory", times(ours.megabytes, theirs.megabytes),
            ours.megabytes <= DEARER * theirs.megabytes,
        ),
        Budget(
            f"at most {DEARER:g} times the CPU", times(ours.cpu_ms, theirs.cpu_ms),
            ours.cpu_ms <= DEARER * theirs.cpu_ms,
        ),
        Budget(f"at most {SLOWER_MS:g} ms more", f"{more:.2f} ms", more <= SLOWER_MS),
        still,
    ]  # fmt: skip


async def _measure(
    programs: Mapping[str, tuple[str, ...]], requests: int
) -> dict[str, AgentFigures]:
    async with bare_cluster() as (cluster, client):
        with _cheap_device() as address:
            for who in programs:
                await client.create(_device(who, address))
            return {
                who: await _agent(cluster, who, line, requests) for who, line in programs.items()
            }


async def _agent(cluster: Cluster, who: str, line: tuple[str, ...], requests: int) -> AgentFigures:
    place, user = PLACES[who], f"agent-{who}"
    cluster.server.tokens.add(user, admin(user))
    with TemporaryDirectory() as folder:
        environ = _pod(cluster, Path(folder), who, user, place)
        with running_command(line, env=environ) as child:
            await _answering(place)
            await asyncio.sleep(START_SECONDS)
            before = len(cluster.server.audit.by(user)), _writes(cluster, user)
            await asyncio.sleep(REST_SECONDS)
            asked = len(cluster.server.audit.by(user)) - before[0]
            wrote = _writes(cluster, user) - before[1]
            alone = await repeat(place, FACADE, requests // 4, "/value")
            began, each = usage(child.pid).cpu, requests // CONNECTIONS
            async with asyncio.TaskGroup() as group:
                for _ in range(CONNECTIONS):
                    group.create_task(repeat(place, FACADE, each, "/value"))
            used = usage(child.pid)
    return AgentFigures(
        used.rss / MEGABYTE,
        (used.cpu - began) * 1000 / (each * CONNECTIONS),
        statistics.median(alone) * 1000,
        asked / REST_SECONDS,
        wrote / REST_SECONDS,
    )


def _writes(cluster: Cluster, user: str) -> int:
    reads = ("get", "list", "watch")
    return sum(each.verb not in reads for each in cluster.server.audit.by(user))


def _pod(cluster: Cluster, folder: Path, name: str, token: str, place: str) -> dict[str, str]:
    """The variables of an agent's pod, and the files that they name."""
    config = folder / "etc" / "edgedevice" / "config"
    config.mkdir(parents=True)
    for key, text in CONFIG.items():
        (config / key).write_text(text)
    way = msgspec.json.decode(cluster.kubeconfig.reveal())["clusters"][0]["cluster"]
    (folder / "ca.crt").write_bytes(b64decode(way["certificate-authority-data"]))
    (folder / "token").write_text(token)
    return {
        "KUBERNETES_SERVICE_HOST": cluster.address.host,
        "KUBERNETES_SERVICE_PORT": str(cluster.address.port),
        "QUINTANT_SERVICE_ACCOUNT": str(folder),
        "QUINTANT_ROOT": str(folder),
        "QUINTANT_POD_IP": place,
        "EDGEDEVICE_NAME": name,
        "EDGEDEVICE_NAMESPACE": DEVICES,
    }


async def _answering(place: str) -> None:
    while True:
        with suppress(OSError, AssertionError, asyncio.IncompleteReadError):
            await repeat(place, FACADE, 1, "/value")
            return
        await asyncio.sleep(0.02)


def applied_table(trials: int) -> Table:
    """From an EdgeDevice to an answer."""
    found = asyncio.run(_apply(trials))
    p50, most = statistics.median(found), max(found)
    return Table(
        "A device applied, until its facade answers",
        APPLYING.format(settle=OPTIONS.settle_delay),
        ("", "p50", "slowest", "devices"),
        [("shifu", f"{p50:.2f} s", f"{most:.2f} s", str(trials))],
        [Budget(f"p50 under {APPLIED_SECONDS:g} s", f"{p50:.2f} s", p50 < APPLIED_SECONDS)],
    )


async def _apply(trials: int) -> list[float]:
    async with _site() as client:
        with _cheap_device() as address:
            names = [f"bench-{number}" for number in range(trials + 1)]
            return [await _one(client, name, address) for name in names][1:]


@contextmanager
def _cheap_device() -> Iterator[str]:
    """A device that costs little; its address is none that a pod takes for its own."""
    (port,) = free_ports(1)
    with running("tunnel_load", "service", str(port), DEVICE):
        yield f"{DEVICE}:{port}"


async def _one(client: Client, name: str, address: str) -> float:
    meta = ObjectMeta(name=f"{name}-configmap", namespace=SHIFUS)
    await client.apply(ConfigMap(metadata=meta, data=CONFIG))
    made = await client.create(_device(name, address))
    stamp = made.metadata.creation_timestamp
    assert stamp is not None
    may_begin = parse_timestamp(stamp).timestamp() + OPTIONS.settle_delay
    await _answering(await _pod_ip(client, f"deviceshifu-{name}"))
    return time.time() - may_begin


async def _pod_ip(client: Client, app: str) -> str:
    while True:
        for pod in await client.list(Pod, SHIFUS, labels={"app": app}):
            if pod.status.pod_ip:
                return pod.status.pod_ip
        await asyncio.sleep(0.02)


@asynccontextmanager
async def _site() -> AsyncIterator[Client]:
    """A cluster whose pods are processes, with the operator."""
    plan = ClusterConfig(
        BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(0), node=NodeOptions()
    )
    async with run_cluster(plan) as cluster:
        cluster.server.tokens.add("root", admin("root"))
        client = Client(Rest(InProcessTransport(cluster.server, "root")), manager="bench")
        await prepare(client)
        for obj in agent_accounts(OPTIONS.shifu_namespace, OPTIONS.device_namespaces, OURS):
            await client.apply(obj)
        with TemporaryDirectory() as folder:
            way = Path(folder) / "kubeconfig"
            way.write_bytes(cluster.kubeconfig.reveal())
            with controller(way):
                yield client


def _device(name: str, address: str) -> EdgeDevice:
    spec = EdgeDeviceSpec(protocol="HTTP", connection="Ethernet", address=address)
    return EdgeDevice(metadata=ObjectMeta(name=name, namespace=DEVICES), spec=spec)
