"""Nodes and namespaces: the cluster-scoped kinds of the core group.

Re-exported by `api.core`.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from quintant.api.meta import Condition
from quintant.api.quantity import Quantity
from quintant.core.object import Model, Object
from quintant.core.resource import resource


class Taint(Model):
    """A reason for pods to stay away from a node."""

    key: str
    effect: str
    value: str = ""
    time_added: str | None = None


class NodeSpec(Model):
    """How a node takes pods."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    pod_cidr: str = msgspec.field(default="", name="podCIDR")
    pod_cidrs: tuple[str, ...] = msgspec.field(default=(), name="podCIDRs")
    provider_id: str = msgspec.field(default="", name="providerID")


class NodeAddress(Model):
    """Where a node is reached: InternalIP, ExternalIP, Hostname."""

    type: str
    address: str


class NodeCondition(Condition):
    """A condition with the time the node last confirmed it."""

    last_heartbeat_time: str | None = None


class NodeSystemInfo(Model):
    """What a node runs on."""

    machine_id: str = msgspec.field(default="", name="machineID")
    system_uuid: str = msgspec.field(default="", name="systemUUID")
    boot_id: str = msgspec.field(default="", name="bootID")
    kernel_version: str = ""
    os_image: str = ""
    container_runtime_version: str = ""
    kubelet_version: str = ""
    kube_proxy_version: str = ""
    operating_system: str = ""
    architecture: str = ""


class NodeStatus(Model):
    """What a node has, and how it is."""

    capacity: Mapping[str, Quantity] = {}
    allocatable: Mapping[str, Quantity] = {}
    conditions: tuple[NodeCondition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()
    node_info: NodeSystemInfo = NodeSystemInfo()


@resource(group="", version="v1", namespaced=False, status=True)
class Node(Object):
    """A machine that runs pods."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceSpec(Model):
    """What holds a namespace back from deletion."""

    finalizers: tuple[str, ...] = ()


class NamespaceStatus(Model):
    """Active, or Terminating and why."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()


@resource(group="", version="v1", namespaced=False, status=True)
class Namespace(Object):
    """A room for names."""

    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()
