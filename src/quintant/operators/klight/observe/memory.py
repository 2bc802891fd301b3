"""What the controller remembers of a network between two looks: hints, never the truth.

All of it may be lost at any moment: the truth is on the pods and in the peers. It holds when to
try whom again, how often a check failed, and records that the API server has not taken yet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from quintant.core.clock import Random
from quintant.core.object import Request
from quintant.operators.klight.observe.membership import Membership
from quintant.operators.klight.observe.view import Peer

# Between tries of a pod that does not answer yet.
FIRST_SECONDS = 0.5
CAP_SECONDS = 30.0
# Something else listens there, or the chain cannot be sent: only a human can help.
LONG_SECONDS = 300.0
JITTER = 0.2
# The same is said of a pod at most so often.
SAY_SECONDS = 60.0


@dataclass(slots=True)
class Try:
    """How often a pod was tried, and when it is to be tried again."""

    incarnation: str
    count: int = 0
    due: float = 0.0
    since: float = 0.0
    """When this incarnation was first seen waiting."""
    waiting: str = ""
    """For what it waits, in words."""
    unsettled: bool = False
    """Whether a join may still be going on."""
    late: int = 0
    """How many joins took longer than they may: the next one may take longer."""


@dataclass(slots=True)
class Memory:
    """The hints about one network."""

    tries: dict[str, Try] = field(default_factory=dict)
    misses: dict[str, int] = field(default_factory=dict)
    """Failed checks in a row, by uid."""
    unsaved: dict[str, Membership] = field(default_factory=dict)
    """Records of joins that happened and could not be written down yet, by uid."""
    said: dict[tuple[str, str], float] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    """Pods that vanished from sight and were looked for, by uid."""
    seen: int = 0
    """How many pods there were at the last look; since when there are as many, and any at all."""
    still: float = 0.0
    born: float = 0.0
    sweep: float = 0.0
    """When members are to be checked again."""
    written: float = float("-inf")
    """When the status was last written."""
    empty: float | None = None
    """Since when there are no pods."""
    faces: dict[str, Peer] = field(default_factory=dict)
    """What was made of each pod when it was last seen, by uid: most have not changed since."""
    missing: dict[str, int] = field(default_factory=dict)
    """Sweeps in a row in which a live member was not in the contact's view, by uid."""
    foreign: set[str] = field(default_factory=set)
    """Peers of another make, by uid."""
    known: dict[str, Request] = field(default_factory=dict)
    """The members of the last look, by uid: whoever vanishes from sight may only have lost its
    label."""
    bereft: float | None = None
    """Since when a network that had members has none."""
    paused: bool = False
    trouble: str = ""
    """Why the network did not take somebody, until it takes one again."""
    head: str = ""
    height: int = 0
    """The chain of the contact."""
    repairs: str = ""
    """How the last repair ended."""

    def trial(self, uid: str, incarnation: str, now: float) -> Try:
        """What is known of a waiting pod; a new incarnation begins anew."""
        known = self.tries.get(uid)
        if known is None or known.incarnation != incarnation:
            known = self.tries[uid] = Try(incarnation, due=now, since=now)
        return known

    def count(self, pods: int, now: float) -> None:
        """Note how many pods there are."""
        if pods != self.seen:
            self.born = self.born if self.seen else now
            self.seen, self.still = pods, now

    def may_say(self, uid: str, reason: str, now: float) -> bool:
        """Whether it is time to say something of a pod, again."""
        last = self.said.get((uid, reason))
        if last is not None and now - last < SAY_SECONDS:
            return False
        self.said[uid, reason] = now
        return True

    def forget(self, alive: set[str]) -> None:
        """Let go of pods that are no more."""
        held: tuple[dict[str, Any], ...]
        held = (self.tries, self.misses, self.unsaved, self.missing, self.faces)
        for each in held:
            for uid in each.keys() - alive:
                del each[uid]
        self.foreign &= alive
        self.said = {key: when for key, when in self.said.items() if key[0] in alive}


def postpone(trial: Try, now: float, random: Random, *, long: bool = False) -> None:
    """Try again later: doubling from half a second to 30, or in five minutes."""
    pause = LONG_SECONDS if long else min(CAP_SECONDS, FIRST_SECONDS * 2**trial.count)
    trial.count = min(trial.count + 1, 16)
    trial.due = now + random.jitter(pause, JITTER)
