"""Observations for the tests of decisions: everything there and well, unless told otherwise."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from quintant.api.apps import Deployment, DeploymentSpec, DeploymentStatus, WorkloadCondition
from quintant.api.core import Pod, PodStatus, Service, ServicePort, ServiceSpec
from quintant.api.meta import Condition, OwnerReference
from quintant.core.object import ObjectMeta
from quintant.operators.portal.api import (
    App,
    PortalExpose,
    PortalExposeSpec,
    PortalExposeStatus,
    RelaySpec,
    RelayTarget,
    ServiceRef,
    TunnelClass,
    TunnelClassSpec,
)
from quintant.operators.portal.observed import Observed
from quintant.wire.tunnelreport import RelayReport, Report, ServiceReport

OWNER = OwnerReference(kind="PortalExpose", name="shop", uid="u", controller=True)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
URL = "wss://{}.example.com/relay"


def exposing(status: PortalExposeStatus | None = None, *relays: str) -> PortalExpose:
    targets = tuple(RelayTarget(name=each, url=URL.format(each)) for each in relays or ("a", "b"))
    return PortalExpose(
        metadata=ObjectMeta(name="shop", namespace="store", uid="u", generation=3),
        spec=PortalExposeSpec(
            app=App(name="shop", service=ServiceRef(name="web", port=80)),
            relay=RelaySpec(targets=targets),
        ),
        status=status,
    )


def pod(uid: str, ready: bool = True, **status: Any) -> Pod:
    owner = OwnerReference(kind="ReplicaSet", name="shop-tunnel-1", uid="rs", controller=True)
    condition = Condition(type="Ready", status=str(ready))
    return Pod(
        metadata=ObjectMeta(name=uid, uid=uid, owner_references=(owner,)),
        status=PodStatus(conditions=(condition, *status.pop("conditions", ())), **status),
    )


def report(*up: str, down: str = "", error: str = "") -> Report:
    said = [RelayReport(each, URL.format(each), "Connected", "2026-01-01T00:00:00Z") for each in up]
    if down:
        said.append(RelayReport(down, URL.format(down), "Backoff", last_error="refused"))
    return Report(1, 1, service=ServiceReport(not error, error), relays=tuple(said))


def deployed(replicas: int = 2, **status: Any) -> Deployment:
    settled = {"replicas": replicas, "updated_replicas": replicas, "ready_replicas": replicas}
    return Deployment(
        metadata=ObjectMeta(name="shop-tunnel", owner_references=(OWNER,)),
        spec=DeploymentSpec(replicas=replicas),
        status=DeploymentStatus(**{**settled, **status}),
    )


def overdue() -> Deployment:
    said = WorkloadCondition(type="Progressing", status="False", reason="ProgressDeadlineExceeded")
    return deployed(ready_replicas=0, conditions=(said,))


def observed(**changes: Any) -> Observed:
    """Two ready pods, connected to both relays; `expose` and all other parts can be replaced."""
    whole: dict[str, Any] = {
        "expose": exposing(),
        "service": Service(
            metadata=ObjectMeta(name="web"), spec=ServiceSpec(ports=(ServicePort(port=80),))
        ),
        "tunnel_class": TunnelClass(
            metadata=ObjectMeta(name="small"), spec=TunnelClassSpec(replicas=2, size="small")
        ),
        "existing": deployed(),
        "pods": (pod("p"), pod("q")),
        "reports": {"p": report("a", "b"), "q": report("a", "b")},
        "now": NOW,
    }
    return Observed(**{**whole, **changes})
