"""What becomes of one container: five states and one step function.

    WAITING ──Started──> RUNNING ──Asked──> STOPPING ──Killed──> KILLED
     ^    ^                 └───────Ended──────┴────────Ended──────┤
     │    └── Refused (it could not be started)                    v
     └───────────────── Renewed (the policy says: again) ─────── ENDED

A `ContainerLifecycle` is a value; `step` is the only way to another one. Restarts wait longer each
time: not at all at first, then ten seconds, doubling to five minutes, forgotten after ten minutes
of work.
"""

from __future__ import annotations

import math
from datetime import datetime
from enum import Enum, auto

from msgspec import Struct
from msgspec.structs import replace

from quintant.cluster.kubelet.container.lifecycle_events import (
    Asked,
    Check,
    Ended,
    Event,
    Killed,
    Nudged,
    Outdated,
    Probed,
    Refused,
    Renewed,
    Signalled,
    Started,
)

FIRST_SECONDS = 10.0
"""How long the second restart waits; the first does not wait."""
LONGEST_SECONDS = 300.0
FORGET_SECONDS = 600.0
"""A container that ran for longer begins anew."""
LAST_SECONDS = 2.0
"""What a program has at least between SIGTERM and SIGKILL, however long its hook took."""
SIGNALLED = 128
"""What a shell adds to the number of a signal for an exit code."""
LOST = 255
"""The exit code of a container whose end nobody saw."""


class State(Enum):
    """Where a container is in its life."""

    WAITING = auto()
    """It has not been started: its turn has not come, or something is missing."""
    RUNNING = auto()
    STOPPING = auto()
    """It has been asked to end, and has until its deadline."""
    KILLED = auto()
    """It was given SIGKILL, and is about to end."""
    ENDED = auto()

    @property
    def alive(self) -> bool:
        return self in (State.RUNNING, State.STOPPING, State.KILLED)


class Moment(Struct, frozen=True):
    """Now, on the wall and on the loop."""

    wall: datetime
    mono: float


class Ending(Struct, frozen=True):
    """How an incarnation of a container ended."""

    code: int
    reason: str
    id: str = ""
    signal: int = 0
    message: str = ""
    began: datetime | None = None
    over: datetime | None = None


class ContainerLifecycle(Struct, frozen=True):
    """What became of a container so far."""

    state: State = State.WAITING
    id: str = ""
    """Of the incarnation; each start has another."""
    restarts: int = 0
    began: Moment | None = None
    """When this incarnation started."""
    started: bool = False
    """Whether it is up: its startup probe passed, or it has none."""
    passed: bool = False
    """Whether any incarnation was up: a sidecar holds nobody back after that."""
    ready: bool = False
    unwell: Check | None = None
    """The probe that failed for good: the container has to be restarted."""
    outdated: bool = False
    """Whether its image is another now: it has to be restarted, whatever the policy."""
    deadline: float = math.inf
    """When a container that was asked to end is killed; in the loop's time, as are the others."""
    asked: float = math.inf
    """Until when it was asked to have ended; its last seconds may go beyond."""
    ending: Ending | None = None
    last: Ending | None = None
    """How the incarnation before this one ended."""
    backoff: float = 0.0
    """How long the next start after an end waits."""
    pause: float = 0.0
    """How long it waited when it could not be started the last time."""
    again: float = -math.inf
    """No start before this."""
    waited: float = 0.0
    """How long the start that is due then had to wait."""
    reason: str = ""
    """Why a waiting container waits, if not for its turn."""
    message: str = ""

    @property
    def succeeded(self) -> bool:
        return self.ending is not None and self.ending.code == 0


def step(life: ContainerLifecycle, event: Event, now: Moment) -> ContainerLifecycle:
    """What a container's life is after an event; an event that comes too late changes nothing."""
    match event, life.state:
        case Started(), State.WAITING:
            return _started(life, event, now)
        case Refused(), State.WAITING:
            return _refused(life, event, now)
        case Nudged(), State.WAITING:
            return replace(life, again=-math.inf)
        case Probed(), State.RUNNING | State.STOPPING:
            return _probed(life, event)
        case Outdated(), State.RUNNING:
            return replace(life, outdated=True)
        case Asked(), State.RUNNING | State.STOPPING:
            deadline = min(life.deadline, event.until)
            asked = min(life.asked, event.until)
            return replace(life, state=State.STOPPING, deadline=deadline, asked=asked)
        case Signalled(), State.STOPPING:
            return replace(life, deadline=max(life.deadline, now.mono + LAST_SECONDS))
        case Killed(), State.RUNNING | State.STOPPING:
            return replace(life, state=State.KILLED, deadline=math.inf)
        case Ended(), State.RUNNING | State.STOPPING | State.KILLED:
            return _ended(life, event, now)
        case Renewed(), State.ENDED:
            return _renewed(life)
    return life


def resumed(restarts: int, ending: Ending | None) -> ContainerLifecycle:
    """The life of a container that an earlier agent ran, whose process is no more."""
    if ending is None:
        return ContainerLifecycle(restarts=restarts)
    return ContainerLifecycle(State.ENDED, ending.id, restarts, ending=ending)


def _started(life: ContainerLifecycle, event: Started, now: Moment) -> ContainerLifecycle:
    return replace(
        life,
        state=State.RUNNING,
        id=event.id,
        # The first start is no restart, and one that failed was none either.
        restarts=life.restarts + (life.last is not None),
        began=now,
        started=event.up,
        passed=life.passed or event.up,
        ready=event.up and event.ready,
        reason="",
        message="",
        pause=0.0,
    )


def _refused(life: ContainerLifecycle, event: Refused, now: Moment) -> ContainerLifecycle:
    delay = _longer(life.pause)
    again = now.mono + delay
    return replace(life, reason=event.reason, message=event.message, pause=delay, again=again)


def _renewed(life: ContainerLifecycle) -> ContainerLifecycle:
    return ContainerLifecycle(
        restarts=life.restarts,
        passed=life.passed,
        last=life.ending,
        backoff=life.backoff,
        again=life.again,
        waited=life.waited,
    )


def _probed(life: ContainerLifecycle, event: Probed) -> ContainerLifecycle:
    match event.check:
        case Check.READINESS:
            return replace(life, ready=event.passed and life.started)
        case Check.STARTUP if event.passed:
            return replace(life, started=True, passed=True, ready=event.ready)
    return life if event.passed else replace(life, unwell=event.check)


def _ended(life: ContainerLifecycle, event: Ended, now: Moment) -> ContainerLifecycle:
    ran = now.mono - life.began.mono if life.began else 0.0
    delay = 0.0 if ran > FORGET_SECONDS else life.backoff
    return replace(
        life,
        state=State.ENDED,
        started=False,
        ready=False,
        unwell=None,
        deadline=math.inf,
        asked=math.inf,
        ending=_ending(life, event, now),
        backoff=_longer(delay),
        again=now.mono + delay,
        waited=delay,
    )


def _ending(life: ContainerLifecycle, event: Ended, now: Moment) -> Ending:
    signal = max(0, -event.code)
    code = SIGNALLED + signal if signal else event.code
    reason = event.reason or ("Error" if code else "Completed")
    began = life.began.wall if life.began else None
    return Ending(code, reason, life.id, signal, event.message, began, now.wall)


def _longer(backoff: float) -> float:
    return min(LONGEST_SECONDS, max(FIRST_SECONDS, backoff * 2))
