"""What a PortalExpose depends on, as it was read: the input of every decision about it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from quintant.api.apps import Deployment
from quintant.api.core import Pod, Service
from quintant.api.meta import condition_of
from quintant.core.clock import parse_timestamp
from quintant.core.errors import Cause
from quintant.core.owner import controller_of
from quintant.operators.portal.api import PortalExpose, TunnelClass
from quintant.operators.portal.remote import HEARING_SECONDS
from quintant.operators.portal.reports import Tunnel
from quintant.wire.tunnelreport import Report

HEARING = timedelta(seconds=HEARING_SECONDS)


@dataclass(frozen=True, slots=True)
class World:
    """Everything that was read about one PortalExpose."""

    expose: PortalExpose
    service: Service | None
    tunnel_class: TunnelClass | None
    deployment: Deployment | None
    """Ours; one of somebody else is none."""
    pods: tuple[Pod, ...] = ()
    reports: Mapping[str, Report] = field(default_factory=dict)
    """What each pod told last, by uid."""
    expected: bool = False
    """Whether we began so lately to listen to a tunnel that its first word may be on its way."""
    complaints: tuple[Cause, ...] = ()
    assume: bool = False
    """Believe that ready pods are connected, as the contract's simplification has it."""
    now: datetime = datetime.min

    @property
    def total(self) -> int:
        """How many tunnels there should be; without a class, as many as it last said."""
        if self.tunnel_class is not None:
            return self.tunnel_class.spec.replicas
        return (self.deployment.spec.replicas or 0) if self.deployment else 0

    @property
    def blocked(self) -> bool:
        """Whether something is missing or wrong, without which there can be no tunnels."""
        return bool(self.complaints) or self.service is None or self.tunnel_class is None

    @property
    def living(self) -> tuple[Pod, ...]:
        """The tunnel pods that are not on their way out."""
        return tuple(pod for pod in self.pods if not pod.deleting and self._ours(pod))

    @property
    def ready(self) -> int:
        """How many tunnels are ready, and no more than there should be.

        Where no pods are to be seen, as on a plane without nodes, the Deployment's word counts.
        """
        if not self.pods and self.deployment is not None:
            found = self.deployment.status.ready_replicas
        else:
            found = sum(pod.ready for pod in self.living)
        return min(found, self.total) if self.total else found

    @property
    def unheard(self) -> bool:
        """Whether the first word of a tunnel may be on its way: it is new, or new to us."""
        if self.expected:
            return True
        if self.assume or self.reports:
            return False
        told = [condition_of(pod.status.conditions, "Ready") for pod in self.living if pod.ready]
        since = [each.last_transition_time for each in told if each and each.last_transition_time]
        return any(self.now - parse_timestamp(each) < HEARING for each in since)

    @property
    def tunnels(self) -> tuple[Tunnel, ...]:
        """What each living pod tells."""
        return tuple(Tunnel(pod.ready, self.reports.get(pod.metadata.uid)) for pod in self.living)

    def _ours(self, pod: Pod) -> bool:
        """Whether a pod comes from a ReplicaSet of our Deployment, and not only looks so."""
        held = controller_of(pod)
        if held is None or self.deployment is None:
            return False
        return held.kind == "ReplicaSet" and held.name.startswith(
            f"{self.deployment.metadata.name}-"
        )
