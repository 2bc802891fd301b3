"""tryUpdateNodeStatus: the machine as a Node object: capacity, software, addresses, heartbeat.

A node says that it is alive by renewing its lease; its status is written when it changes, and now
and then all the same.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from quintant.api.coordination import Lease, LeaseSpec
from quintant.api.meta import condition_of
from quintant.api.node import Node, NodeAddress, NodeCondition, NodeSpec, NodeStatus, NodeSystemInfo
from quintant.api.quantity import Quantity
from quintant.cluster.common.labels import PROCESSES, RUNS
from quintant.cluster.common.node_heartbeat import LEASES, HeartbeatTimes
from quintant.core.clock import Clock, micro_timestamp, timestamp
from quintant.core.errors import QuintantError
from quintant.core.object import ObjectMeta, OwnerReference
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.permissions import Permissions, verb_permissions
from quintant.version import KUBERNETES, QUINTANT

STATUS_SECONDS = 300.0
"""How often an unchanged status is written."""
PODS = 500
"""How many pods may be given to a machine: processes are lighter than containers."""
UNKNOWN_MEMORY = 8 * 2**30
"""What a machine is taken to have that does not say."""
NEEDS: Permissions = (
    verb_permissions(Node, "get", "create", "patch")
    | verb_permissions(Node, "patch", sub="status")
    | verb_permissions(Lease, "get", "create", "patch")
)
"""What it takes to keep a Node and its lease."""

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_GOOD = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "PID available"),
    ("Ready", "True", "KubeletReady", "runs pods as processes"),
)


class MachineInfo(Struct, frozen=True):
    """A machine under the name of a node."""

    name: str
    address: str
    capacity: Mapping[str, Quantity]
    info: NodeSystemInfo

    @property
    def node(self) -> Node:
        """The object, without its status."""
        return Node(metadata=ObjectMeta(name=self.name, labels=self.labels), spec=NodeSpec())

    def status(self, booted: datetime, now: datetime) -> NodeStatus:
        """The status, confirmed now; `booted` is since when everything is well."""
        return NodeStatus(
            capacity=self.capacity,
            allocatable=self.capacity,
            conditions=tuple(
                NodeCondition(
                    type=type,
                    status=status,
                    reason=reason,
                    message=message,
                    last_transition_time=timestamp(booted),
                    last_heartbeat_time=timestamp(now),
                )
                for type, status, reason, message in _GOOD
            ),
            addresses=(
                NodeAddress(type="InternalIP", address=self.address),
                NodeAddress(type="Hostname", address=self.name),
            ),
            node_info=self.info,
        )

    @property
    def labels(self) -> dict[str, str]:
        """By which it is found and chosen."""
        return {
            "kubernetes.io/hostname": self.name,
            "kubernetes.io/os": self.info.operating_system,
            "kubernetes.io/arch": self.info.architecture,
            "beta.kubernetes.io/os": self.info.operating_system,
            "beta.kubernetes.io/arch": self.info.architecture,
            RUNS: PROCESSES,
        }


def this_machine(name: str, address: str, folder: Path) -> MachineInfo:
    """The machine that we run on; `folder` is where pods keep their files."""
    disk = os.statvfs(folder)
    capacity = {
        "cpu": Quantity(str(os.cpu_count() or 1)),
        "memory": Quantity(f"{_memory() // 1024}Ki"),
        "pods": Quantity(str(PODS)),
        "ephemeral-storage": Quantity(f"{disk.f_blocks * disk.f_frsize // 1024}Ki"),
    }
    system, kind = platform.system().lower(), platform.machine()
    info = NodeSystemInfo(
        machine_id=_text("/etc/machine-id"),
        system_uuid=_text("/etc/machine-id"),
        boot_id=_text("/proc/sys/kernel/random/boot_id"),
        kernel_version=platform.release(),
        os_image=_image() or platform.platform(terse=True),
        container_runtime_version=f"process://{QUINTANT}",
        kubelet_version=KUBERNETES,
        kube_proxy_version="",
        operating_system=system,
        architecture=_ARCHITECTURES.get(kind, kind),
    )
    return MachineInfo(name, address, capacity, info)


class Heartbeat(Struct, frozen=True):
    """Keeps a Node object and its lease until cancelled."""

    machine: MachineInfo
    clock: Clock
    times: HeartbeatTimes = HeartbeatTimes()

    async def run(self, client: Client) -> None:
        """Write both, again and again; an API server that is away is tried again."""
        booted, beats, renew = self.clock.now(), 0, self.times.renew
        while True:
            with suppress(QuintantError):
                await self.beat(client, booted, status=beats % int(STATUS_SECONDS / renew) == 0)
                beats += 1
            await asyncio.sleep(renew)

    async def beat(self, client: Client, booted: datetime, *, status: bool) -> None:
        """Say once that the node is alive."""
        now = self.clock.now()
        node = await client.apply(self.machine.node)
        if status or not _well(node):
            await client.set_status(node, self.machine.status(booted, now))
        owner = OwnerReference(
            api_version="v1", kind="Node", name=node.metadata.name, uid=node.metadata.uid
        )
        meta = ObjectMeta(name=self.machine.name, namespace=LEASES, owner_references=(owner,))
        spec = LeaseSpec(
            holder_identity=self.machine.name,
            lease_duration_seconds=self.times.lease,
            renew_time=micro_timestamp(now),
        )
        await client.apply(Lease(metadata=meta, spec=spec))


def _well(node: Node) -> bool:
    """Whether the node is known to be ready: somebody may have given it up, or deleted it."""
    ready = condition_of(node.status.conditions, "Ready")
    return ready is not None and ready.status == "True"


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):  # not every system tells
        return UNKNOWN_MEMORY


def _image() -> str:
    for line in _text("/etc/os-release").splitlines():
        name, _, value = line.partition("=")
        if name == "PRETTY_NAME":
            return value.strip('"')
    return ""


def _text(path: str) -> str:
    with suppress(OSError):
        return Path(path).read_text().strip()
    return ""
