"""Pods, as far as nodes and operators are shown by them: where they are, and what they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from quintant.api.core import Pod
from quintant.api.meta import Condition, condition_of
from quintant.api.quantity import Quantity, parse_quantity
from quintant.console.links import is_simulated
from quintant.console.views import NOTHING, share_text
from quintant.core.object import Model, Object, ObjectMeta
from quintant.core.resource import projection, resource_of
from quintant.runtime.manager.rbac import NAME_LABEL

OVER = ("Succeeded", "Failed")
"""Phases of pods that ask for nothing any more."""


class _Resources(Model):
    requests: Mapping[str, Quantity] = {}


class _Container(Model):
    name: str = ""
    image: str = ""
    resources: _Resources = _Resources()


class _Spec(Model):
    node_name: str = ""
    containers: tuple[_Container, ...] = ()


class _ContainerStatus(Model):
    restart_count: int = 0


class _Status(Model):
    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[_ContainerStatus, ...] = ()


@projection(of=Pod)
class _WirePod(Object):
    spec: _Spec = _Spec()
    status: _Status = _Status()


def _made(wire: _WirePod) -> CountedPod:
    spec, status = wire.spec, wire.status
    ready = condition_of(status.conditions, "Ready")
    full = wire.metadata
    program = full.labels.get(NAME_LABEL, "")
    return CountedPod(
        metadata=ObjectMeta(
            name=full.name, namespace=share_text(full.namespace), uid=full.uid,
            resource_version=full.resource_version, deletion_timestamp=full.deletion_timestamp,
            owner_references=full.owner_references, labels=NOTHING, annotations=NOTHING,
        ),
        node=share_text(spec.node_name), phase=share_text(status.phase),
        program=share_text(program),
        image=spec.containers[0].image if program and spec.containers else "",
        ready=ready is not None and ready.status == "True",
        restarts=sum(each.restart_count for each in status.container_statuses),
        memory=sum(amount(each.resources.requests.get("memory")) for each in spec.containers),
        cpu_millis=sum(
            amount(each.resources.requests.get("cpu"), 1000) for each in spec.containers
        ),
        simulated=is_simulated(full),
    )  # fmt: skip


@projection(of=Pod, wire=_WirePod, transform=_made)
class CountedPod(Object):
    """A pod, as it is counted."""

    node: str = ""
    phase: str = ""
    program: str = ""
    """The label app.kubernetes.io/name."""
    image: str = ""
    ready: bool = False
    restarts: int = 0
    memory: int = 0
    cpu_millis: int = 0
    simulated: bool = False

    @property
    def over(self) -> bool:
        """Whether it asks its node for nothing any more."""
        return self.phase in OVER


PODS = resource_of(CountedPod)


def amount(quantity: str | None, factor: int = 1) -> int:
    """A quantity as a number; 0 for none, and for what is none."""
    if quantity is None:
        return 0
    try:
        return int(parse_quantity(quantity) * factor)
    except (ValueError, ArithmeticError):
        return int(Decimal(0))
