"""What is known of a PortalExpose when its plan is made, and what became of its Deployment.

Values alone: `Observed` is what was read, `Outcome` what writing the Deployment came to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto

from quintant.api.apps import Deployment
from quintant.api.core import Pod, Service
from quintant.api.meta import condition_of
from quintant.core.clock import find_timestamp
from quintant.core.errors import Cause, QuintantError
from quintant.core.owner import controller_of
from quintant.operators.portal.api import PortalExpose, TunnelClass, TunnelKey
from quintant.operators.portal.builders import adoptable, labels
from quintant.runtime.apply import controlled
from quintant.wire.tunnelreport import Report

HEARING_SECONDS = 3.0
"""How long the first word of a tunnel may take before it is missed."""


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A tunnel pod that is not going away, and what it reported last."""

    ready: bool
    report: Report | None


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything that was read about one PortalExpose."""

    expose: PortalExpose
    service: Service | None
    tunnel_class: TunnelClass | None
    existing: Deployment | None
    """What has the name of our Deployment, also if another controls it."""
    pods: tuple[Pod, ...] = ()
    reports: Mapping[str, Report] = field(default_factory=dict)
    """What each pod reported last, by uid."""
    expected: bool = False
    """Whether we began so lately to listen to a tunnel that its first word may be on its way."""
    key: TunnelKey | None = None
    """The Secret with the tunnels' key."""
    keyed: bool = True
    """Whether the tunnels need one: other images make their own."""
    errors: tuple[Cause, ...] = ()
    """What is wrong with its spec."""
    class_errors: tuple[Cause, ...] = ()
    """What is wrong with its TunnelClass."""
    unshared: tuple[str, ...] = ()
    """Which Secrets are not for the relays that would see them."""
    assume: bool = False
    """Believe that ready pods are connected, as the contract's simplification has it."""
    now: datetime = datetime.min

    @property
    def deployment(self) -> Deployment | None:
        """The Deployment if it is ours, or ours to adopt."""
        if self.existing is None or controlled(self.existing, self.expose):
            return self.existing
        ours = adoptable(self.existing, labels(self.expose.metadata.name))
        return self.existing if ours else None

    @property
    def total(self) -> int:
        """How many tunnels there should be; without a sound class, as many as it last said."""
        if self.tunnel_class is not None and not self.class_errors:
            return self.tunnel_class.spec.replicas
        return (self.deployment.spec.replicas or 0) if self.deployment else 0

    @property
    def blocked(self) -> bool:
        """Whether something is missing or wrong, without which there can be no tunnels."""
        wrong = self.errors or self.class_errors or self.unshared
        return bool(wrong) or self.service is None or self.tunnel_class is None

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
            count = self.deployment.status.ready_replicas
        else:
            count = sum(pod.ready for pod in self.living)
        return min(count, self.total) if self.total else count

    @property
    def unheard(self) -> bool:
        """Whether the first word of a tunnel may be on its way: it is new, or new to us."""
        if self.expected:
            return True
        if self.assume or self.reports:
            return False
        ready = (condition_of(pod.status.conditions, "Ready") for pod in self.living if pod.ready)
        since = [each.last_transition_time for each in ready if each and each.last_transition_time]
        late = self.now - timedelta(seconds=HEARING_SECONDS)
        return any(moment > late for moment in map(find_timestamp, since) if moment)

    @property
    def tunnels(self) -> tuple[Tunnel, ...]:
        """What each living pod reports."""
        return tuple(Tunnel(pod.ready, self.reports.get(pod.metadata.uid)) for pod in self.living)

    def _ours(self, pod: Pod) -> bool:
        """Whether a pod comes from a ReplicaSet of our Deployment, and not only looks so."""
        held = controller_of(pod)
        if held is None or self.deployment is None:
            return False
        return held.kind == "ReplicaSet" and held.name.startswith(
            f"{self.deployment.metadata.name}-"
        )


class OperationResult(Enum):
    """What was done about the Deployment in this pass."""

    NONE = auto()  # nothing was tried: something it depends on is missing
    UNCHANGED = auto()  # it is as desired
    CREATED = auto()
    UPDATED = auto()  # what we want has changed
    CORRECTED = auto()  # another had changed it
    WAITING = auto()  # one of an earlier namesake is still going away
    CONFLICT = auto()  # it belongs to another
    REFUSED = auto()  # the server would not have it


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done about the Deployment, and why, in the words of a status."""

    result: OperationResult = OperationResult.NONE
    message: str = ""
    creating: bool = True
    """With REFUSED: whether it was to be created."""
    error: QuintantError | None = None
    """With REFUSED: what the server answered; the next try is the queue's."""
