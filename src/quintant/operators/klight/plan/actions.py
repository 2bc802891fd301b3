"""What is to be done, as values: decided by the plan, carried out by `act`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from quintant.api.events import PlannedEvent
from quintant.api.meta import Condition
from quintant.operators.klight.api import PeerPod
from quintant.operators.klight.api.lightnetwork import LightNetwork, LightNetworkStatus
from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.observed.network import PeerView
from quintant.runtime.reconcile.conclusion import Conclusion


class End(Enum):
    """How an attempt to join a pod ended, as the metrics have it."""

    FOUNDED = "founded"
    JOINED = "joined"
    ADOPTED = "adopted"
    """It was a member already."""
    RETRY = "joiner-down"
    """The joiner's fault: try again later."""
    UNSETTLED = "unsettled"
    """It is not known: look again later, and join again only if it did not happen."""
    NOT_A_PEER = "not-a-lightpeer"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    """The joiner reaches no member, though some live."""
    SILENT = "silent"
    """No member answers, and none is proven dead."""
    TOO_LARGE = "too-large"

    @property
    def known(self) -> bool:
        """Whether it is certain that the pod was not joined."""
        return self in (End.NOT_A_PEER, End.REFUSED, End.UNREACHABLE, End.SILENT, End.TOO_LARGE)


@dataclass(frozen=True, slots=True)
class Save:
    """Write down the record of a join that happened."""

    pod: PeerPod
    record: Membership


@dataclass(frozen=True, slots=True)
class NoteIntent:
    """Write down that a peer is about to be joined, for the process that starts after a crash."""

    pod: PeerPod
    annotations: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Drop:
    """Take a member off the stack."""

    peer: PeerView
    reason: str
    note: str
    backoff: float | None = None
    """How long it is left alone; None lets it join again at once."""


@dataclass(frozen=True, slots=True)
class Enrol:
    """Record a peer as a member, on top of the stack."""

    peer: PeerView
    record: Membership
    end: End
    reason: str
    note: str

    @property
    def pod(self) -> PeerPod:
        return self.peer.pod

    @property
    def member(self) -> PeerView:
        """The peer as a member."""
        return replace(self.peer, record=self.record)


@dataclass(frozen=True, slots=True)
class Postpone:
    """Try a pod again later."""

    peer: PeerView
    waiting: str
    """For what it waits, in words."""
    reason: str = ""
    """That of the warning; empty if it is too early for one."""
    end: End | None = None
    """How an attempt ended; None if there was none."""
    backoff: float | None = None
    """Seconds until the next try; None doubles them with each failure."""
    trouble: bool = False
    """Whether it says something about the network, too."""
    unsettled: bool | None = None
    """Whether a join may still be under way; None leaves what is known of it."""
    withdraws: bool = False
    """Whether an intent stands on the pod that came to nothing."""


@dataclass(frozen=True, slots=True)
class Erase:
    """Take the record off a pod whose membership is over."""

    pod: PeerPod
    remaining: Mapping[str, str]
    """The annotations of ours that stay."""
    condition: Condition | None
    """What the pod's readiness gate shows then; None if it has none, or shows it."""
    event: PlannedEvent | None
    """None if there was no record."""


@dataclass(frozen=True, slots=True)
class SetGate:
    """Show a pod that lists the readiness gate whether it is a member."""

    pod: PeerPod
    condition: Condition


@dataclass(frozen=True, slots=True)
class Announce:
    """Record an event about a pod."""

    pod: PeerPod
    reason: str
    note: str


@dataclass(frozen=True, slots=True)
class Warn:
    """Record a warning about a pod, at most once a minute."""

    pod: PeerPod
    reason: str
    note: str


@dataclass(frozen=True, slots=True)
class CountFailures:
    """Count checks of members that failed."""

    count: int


@dataclass(frozen=True, slots=True)
class CountRepair:
    """Count a repair, log it, and record how it ended."""

    result: str
    strays: int
    failed: int
    lightnetwork: LightNetwork | None
    event: PlannedEvent | None
    """None if there was nothing to do."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Show a network in the metrics; `uids` are its pods."""

    states: Mapping[str, int]
    depth: int
    uids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conclude:
    """Write the status of a LightNetwork, and record what changed."""

    lightnetwork: LightNetwork
    conclusion: Conclusion[LightNetworkStatus]


@dataclass(frozen=True, slots=True)
class Retire:
    """Delete the LightNetwork of a network that is no more, if there is one, and its series."""

    lightnetwork: LightNetwork | None


Action = (
    Save | NoteIntent | Drop | Enrol | Postpone | Erase | SetGate | Announce | Warn
    | CountFailures | CountRepair | Measure | Conclude | Retire
)  # fmt: skip
