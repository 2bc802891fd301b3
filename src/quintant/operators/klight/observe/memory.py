"""What the controller remembers of a network between two looks: hints, never the truth.

All of it may be lost at any moment: the truth is on the pods and in the peers. It holds when to
try whom again, how often a check failed, and records that the API server has not taken yet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from quintant.core.object import Request
from quintant.operators.klight.api import PeerPod
from quintant.operators.klight.observe.membership import Membership
from quintant.operators.klight.observe.view import PeerView
from quintant.runtime.controller.attempts import Attempts
from quintant.runtime.events.limiter import EventLimiter


@dataclass(slots=True)
class Wait:
    """Why a pod is no member yet."""

    incarnation: str
    since: float
    """When this incarnation was first seen waiting."""
    reason: str = ""
    """For what it waits, in words."""
    unsettled: bool = False
    """Whether a join may still be going on."""
    late: int = 0
    """How many joins took longer than they may: the next one may take longer."""


@dataclass(slots=True)
class Memory:
    """The hints about one network; by uid where they are about pods."""

    waits: dict[str, Wait] = field(default_factory=dict)
    attempts: Attempts[str] = field(default_factory=Attempts)
    """When to try again whom to join, or to let go."""
    warnings: EventLimiter = field(default_factory=EventLimiter)
    misses: dict[str, int] = field(default_factory=dict)
    """Failed checks in a row."""
    unsaved: dict[str, Membership] = field(default_factory=dict)
    """Records of joins that happened and could not be written down yet."""
    intents: set[str] = field(default_factory=set)
    """Pods on which stands that they are being joined."""
    asked: set[str] = field(default_factory=set)
    """Pods that vanished from sight and were looked for."""
    pods: int = 0
    """How many pods there were at the last look; since when there are as many, and any at all."""
    still: float = 0.0
    born: float = 0.0
    next_probe: float = 0.0
    """When members are to be checked again."""
    written: float = float("-inf")
    """When the status was last written."""
    empty: float | None = None
    """Since when there are no pods."""
    peers: dict[str, PeerView] = field(default_factory=dict)
    """What was made of each pod when it was last seen: most have not changed since."""
    missing: dict[str, int] = field(default_factory=dict)
    """Sweeps in a row in which a live member was not in the contact's view."""
    foreign: set[str] = field(default_factory=set)
    """Peers of another make."""
    members: dict[str, Request] = field(default_factory=dict)
    """The pods of the last look that bear our annotations: whoever vanishes from sight may only
    have lost its label."""
    leaving: dict[str, PeerPod] = field(default_factory=dict)
    """Pods that have lost their label, and whose peers have not left yet, by uid."""
    memberless: float | None = None
    """Since when a network that had members has none."""
    unwritable: str = ""
    """Why nobody can write, by what our own peers say of their last writes."""
    sweeps: int = 0
    """How often members were checked."""
    ours: dict[str, bool] = field(default_factory=dict)
    """Whether a member is one of our own peers, as far as it was asked, by uid."""
    newest: dict[str, bytes] = field(default_factory=dict)
    """What was written last, as members told it when they were last compared, by uid."""
    forked: str | None = None
    """Who has another chain than the rest; None until members were compared twice."""
    paused: bool = False
    trouble: str = ""
    """Why the network did not take somebody, until it takes one again."""
    head: str = ""
    height: int = 0
    """The chain of the contact."""
    repaired: str = ""
    """How the last repair ended."""
    handled: str | None = None
    """The request that it followed; None before the first one."""

    def wait(self, uid: str, incarnation: str, now: float) -> Wait:
        """What is known of a waiting pod; a new incarnation begins anew."""
        known = self.waits.get(uid)
        if known is None or known.incarnation != incarnation:
            self.attempts.forget(uid)
            known = self.waits[uid] = Wait(incarnation, now)
        return known

    def waits_no_more(self, uid: str) -> None:
        """Forget what a pod waited for."""
        self.waits.pop(uid, None)
        self.attempts.forget(uid)

    def count(self, pods: int, now: float) -> None:
        """Note how many pods there are."""
        if pods != self.pods:
            self.born = self.born if self.pods else now
            self.pods, self.still = pods, now

    def retain(self, alive: set[str]) -> None:
        """Let go of pods that are no more."""
        held: tuple[dict[str, Any], ...]
        held = (self.waits, self.misses, self.unsaved, self.missing, self.peers, self.ours)
        for each in held:
            for uid in each.keys() - alive:
                del each[uid]
        self.foreign &= alive
        self.intents &= alive
        self.attempts.retain(alive)
        self.warnings.retain(alive)
