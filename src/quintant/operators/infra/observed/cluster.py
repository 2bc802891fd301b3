"""`Observed`: everything that was read about one Cluster, and what is remembered of it.

What is remembered is only hints: how often the provider said the same, how often it failed. A
controller that starts again remembers nothing, looks twice, and decides the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from typing import Any

from quintant.api.core import Secret
from quintant.core.duration import parse_duration
from quintant.core.object import Opaque
from quintant.core.resource import projection
from quintant.operators.infra.api import (
    INFRASTRUCTURE,
    PAUSED,
    RETRY,
    AnyCloud,
    AnyProvider,
    Cluster,
    ClusterStatus,
)
from quintant.operators.infra.api.cluster import ReconfigureSpec, Timeouts
from quintant.operators.infra.api.cluster_status import CloudBinding, Operation
from quintant.operators.infra.builders import provider_address
from quintant.operators.infra.observed.answers import (
    Ended,
    Failure,
    InfrastructureState,
    MachineDetails,
)
from quintant.operators.infra.observed.marks import InfrastructureMarks


@projection(of=Secret)
class WatchedSecret(Secret):
    """A Secret whose changes are seen at once: credentials with the label, and kubeconfigs."""


def secret_value(secret: Secret | None, key: str) -> bytes | None:
    """The value of a key of a Secret; None if there is none that can be read."""
    try:
        return secret.reveal(key) if secret is not None else None
    except (KeyError, ValueError):
        return None


class ProviderQuestion(Enum):
    """What the provider is asked in a pass."""

    MARKS = auto()
    """Whose an infrastructure is that nobody has claimed."""
    STATE = auto()
    FIND = auto()
    OUTPUTS = auto()
    ADOPT = auto()


class CallKind(Enum):
    """Calls that may take minutes, and have no worker waiting for them."""

    DRY_RUN = "plan"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class LongCallId:
    """Which long call it is, and of which attempt; the same is not made twice."""

    kind: CallKind
    hash: str = ""
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class BegunCall:
    """A long call that was begun; without an id another one is under way, and this one is not."""

    id: LongCallId | None = None
    serial: int = 0


Answer = str | Failure | BegunCall | None
"""What became of a call: an id or a reason, a failure, that it was begun, or nothing to say."""


@dataclass(frozen=True, slots=True)
class Holding:
    """Who has an infrastructure, by its claim."""

    holder: str
    """The Cluster, as namespace/name."""
    uid: str
    live: bool
    """Whether that Cluster is still there."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A Cluster's cloud and provider, and everything needed to speak to them but the secrets."""

    cloud: AnyCloud
    provider: AnyProvider
    snapshot: CloudBinding
    fingerprint: str
    """Changes whenever the cloud, the provider or what their Secrets hold does; never written."""
    settle_seconds: float = 60.0
    """How long a request whose answer was lost may still take effect."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Something that the binding names is missing or cannot be used."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class ClusterMemory:
    """What is remembered of a Cluster between passes."""

    state: InfrastructureState | None = None
    since: datetime | None = None
    """Since when the provider says the same."""
    looks: int = 0
    """How often it said so."""
    looked: datetime | None = None
    """When it was last asked."""
    missing: int = 0
    """How often in a row it said that there is no such infrastructure."""
    missing_since: datetime | None = None
    failures: int = 0
    """How often in a row it could not be asked."""
    empty_outputs: int = 0
    undeleted: int = 0
    """How often it showed no sign of a deletion that it had accepted."""
    accepted: Operation | None = None
    """The deletion that it accepted last; on record with the next change."""
    failed_with: str = ""
    """The fingerprint of the binding when something failed."""
    call: LongCallId | None = None
    """The last long call that was begun."""
    serial: int = 0
    """Its number: the same may be asked for again, much later."""
    refreshed: str = ""
    """Since when the cluster was out of reach when its kubeconfig was read again."""


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything that was read about one Cluster."""

    cluster: Cluster
    now: datetime
    binding: Binding | None = None
    unresolved: Unresolved | None = None
    memory: ClusterMemory = ClusterMemory()
    secret: WatchedSecret | None = None
    """The Secret with our kubeconfig's name, ours or not."""
    kubeconfig: str | None = None
    """The kubeconfig of a cluster that the user made, as its Secret has it."""
    call: LongCallId | None = None
    """The long call that is under way, or came to its end."""
    ended: Ended | None = None
    rivals: tuple[str, ...] = ()
    """Other Clusters that have the infrastructure which this one should adopt."""
    holdings: Mapping[str, Holding] = field(default_factory=dict)
    """Who has the infrastructures that this one names, by id; none has those that are missing."""
    held: tuple[str, ...] = ()
    """The infrastructures at the provider that are claimed for this Cluster."""
    claimed: frozenset[str] = frozenset()
    """Those that are claimed for others; read when one is looked for."""
    marks: InfrastructureMarks | Failure | None = None
    """What the infrastructure carries that is not claimed."""
    state: InfrastructureState | Failure | None = None
    details: Mapping[str, MachineDetails] | None = None
    log: str = ""
    infrastructures: tuple[str, ...] | Failure | None = None
    outputs: Mapping[str, Any] | Failure | None = None
    kept: Opaque | None = None
    """The template that was last applied, if it is too large for the status."""
    adopted: Mapping[str, Any] | None = None
    """The template of the infrastructure to be adopted."""
    poll_min: float = 2.0
    poll_max: float = 30.0
    observe_interval: float = 60.0
    instance: str = ""

    @property
    def status(self) -> ClusterStatus:
        """The status, also where there is none yet."""
        return self.cluster.status or ClusterStatus()

    @property
    def last_applied(self) -> Opaque | None:
        """The template that was last applied, wherever it is; None if it is unknown."""
        applied = self.status.last_applied_tosca or self.kept
        return applied if applied is not None and isinstance(applied.value, dict) else None

    @property
    def paused(self) -> bool:
        """Whether the user asked for nothing to be done."""
        return self.cluster.spec.paused or self.cluster.metadata.annotations.get(PAUSED) == "true"

    @property
    def noted_id(self) -> str:
        """The infrastructure that the Cluster's annotation names; it outlives the status."""
        return self.cluster.metadata.annotations.get(INFRASTRUCTURE, "")

    @property
    def retry(self) -> str:
        """A wish to try again that was not acted on yet."""
        requested = self.cluster.metadata.annotations.get(RETRY, "")
        return requested if requested != self.status.handled_retry else ""

    @property
    def running(self) -> bool:
        """Whether a long call is under way."""
        return self.call is not None and self.ended is None

    def timeout(self, name: str) -> float:
        """Seconds that an operation may take; 0 is without end."""
        spec = self.cluster.spec.timeouts or Timeouts()
        return parse_duration(getattr(spec, name) or _TIMEOUTS[name])

    @property
    def attempts(self) -> tuple[int, float, float]:
        """How often what failed is tried again: at most, first and longest wait in seconds."""
        spec = self.cluster.spec.reconfigure or ReconfigureSpec()
        first, longest = parse_duration(spec.backoff or "30s"), spec.max_backoff or "10m"
        return spec.max_attempts or 5, first, parse_duration(longest)


def address_of(observed: Observed) -> str:
    """What claims call the provider; empty if it is bound to none."""
    im = observed.binding.provider.spec.im if observed.binding is not None else None
    return provider_address(im.url) if im is not None else ""


_TIMEOUTS = {
    "create": "60m", "update": "60m", "reconfigure": "30m", "delete": "30m", "launch_grace": "10m",
}  # fmt: skip
"""What the schema fills in; objects that were never stored have nothing else."""
