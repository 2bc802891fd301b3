"""Services and pods for the tests of what is behind services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintant.api.core import (
    Address,
    Container,
    ContainerPort,
    Node,
    Pod,
    PodSpec,
    PodStatus,
    Service,
    ServicePort,
    ServiceSpec,
)
from quintant.api.meta import Condition, ObjectMeta
from quintant.cluster.controllers.pods.views import PodState
from quintant.core import codec
from quintant.testing import InProcessCluster, named

NODE = "local"
LABELS = {"app": "a"}


def service(
    name: str = "web", *ports: ServicePort, labels: Mapping[str, str] | None = None, **spec: Any
) -> Service:
    """A service for the pods labelled app=a; port 80 unless told otherwise."""
    given = {"selector": LABELS, "ports": ports or (ServicePort(port=80, target_port=8080),)}
    return Service(metadata=named(name, labels=labels or {}), spec=ServiceSpec(**given | spec))


def pod(
    name: str,
    ip: str = "10.0.0.1",
    *,
    ready: bool = True,
    phase: str = "Running",
    labels: Mapping[str, str] = LABELS,
    ports: tuple[ContainerPort, ...] = (),
    **spec: Any,
) -> Pod:
    """A pod on the node; its status is what the test says."""
    container = Container(name="main", image="image", ports=ports)
    status = PodStatus(
        phase=phase,
        pod_ip=ip,
        pod_ips=(Address(ip=ip),) if ip else (),
        conditions=(Condition(type="Ready", status=str(ready)),),
    )
    return Pod(
        metadata=named(name, labels=labels),
        spec=PodSpec(**{"containers": (container,), "node_name": NODE, **spec}),
        status=status,
    )


def node(name: str = NODE, **labels: str) -> Node:
    return Node(metadata=ObjectMeta(name=name, labels=labels))


async def started(cluster: InProcessCluster, made: Pod) -> Pod:
    """Create a pod, and say that it is as the test wants it."""
    return await cluster.client.set_status(await cluster.create(made), made.status)


def seen(made: Pod) -> PodState:
    """A pod as controllers see it."""
    return codec.decode(PodState, codec.encode_object(made))
