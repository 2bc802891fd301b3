"""ContainerState: what becomes of one container: five states and one step function.

    WAITING ──Started──> RUNNING ──StopRequested──> STOPPING ──Killed──> KILLED
     ^    ^                 └────────Exited────────────┴───────Exited──────┤
     │    └── StartFailed (it could not be started)                        v
     └──────────────── Restarting (by the restart policy) ────────────── ENDED

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
    Exited,
    ImageChanged,
    Killed,
    LifecycleEvent,
    Probed,
    ProbeType,
    Restarting,
    RetryNow,
    Signalled,
    Started,
    StartFailed,
    StopRequested,
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


class LifecycleState(Enum):
    """Where a container is in its lifecycle."""

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
        return self in (LifecycleState.RUNNING, LifecycleState.STOPPING, LifecycleState.KILLED)


class Moment(Struct, frozen=True):
    """Now, on the wall and on the loop."""

    wall: datetime
    mono: float


class ExitStatus(Struct, frozen=True):
    """How a run of a container ended."""

    code: int
    reason: str
    id: str = ""
    signal: int = 0
    message: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None


class ContainerLifecycle(Struct, frozen=True):
    """What became of a container so far."""

    state: LifecycleState = LifecycleState.WAITING
    id: str = ""
    """Of the run; each start has another."""
    restarts: int = 0
    started_at: Moment | None = None
    """When this run started."""
    started: bool = False
    """Whether it is up: its startup probe passed, or it has none."""
    passed: bool = False
    """Whether any run was up: a sidecar holds nobody back after that."""
    ready: bool = False
    failed_probe: ProbeType | None = None
    """The probe that failed for good: the container has to be restarted."""
    image_changed: bool = False
    """Whether its image is another now: it has to be restarted, whatever the policy."""
    deadline: float = math.inf
    """When a container that was asked to end is killed; in the loop's time, as are the others."""
    stop_until: float = math.inf
    """Until when it was asked to have ended; its last seconds may go beyond."""
    exit_status: ExitStatus | None = None
    last_exit: ExitStatus | None = None
    """How the run before this one ended."""
    backoff: float = 0.0
    """How long the next start after an end waits."""
    start_backoff: float = 0.0
    """How long it waited when it could not be started the last time."""
    not_before: float = -math.inf
    """No start before this."""
    last_delay: float = 0.0
    """How long the start that is due then had to wait."""
    reason: str = ""
    """Why a waiting container waits, if not for its turn."""
    message: str = ""

    @property
    def succeeded(self) -> bool:
        return self.exit_status is not None and self.exit_status.code == 0


def step(lifecycle: ContainerLifecycle, event: LifecycleEvent, now: Moment) -> ContainerLifecycle:
    """What a container has come to after an event; an event that comes too late changes nothing."""
    match event, lifecycle.state:
        case Started(), LifecycleState.WAITING:
            return _started(lifecycle, event, now)
        case StartFailed(), LifecycleState.WAITING:
            return _start_failed(lifecycle, event, now)
        case RetryNow(), LifecycleState.WAITING:
            return replace(lifecycle, not_before=-math.inf)
        case Probed(), LifecycleState.RUNNING | LifecycleState.STOPPING:
            return _probed(lifecycle, event)
        case ImageChanged(), LifecycleState.RUNNING:
            return replace(lifecycle, image_changed=True)
        case StopRequested(), LifecycleState.RUNNING | LifecycleState.STOPPING:
            deadline = min(lifecycle.deadline, event.until)
            stop_until = min(lifecycle.stop_until, event.until)
            return replace(
                lifecycle, state=LifecycleState.STOPPING, deadline=deadline, stop_until=stop_until
            )
        case Signalled(), LifecycleState.STOPPING:
            return replace(lifecycle, deadline=max(lifecycle.deadline, now.mono + LAST_SECONDS))
        case Killed(), LifecycleState.RUNNING | LifecycleState.STOPPING:
            return replace(lifecycle, state=LifecycleState.KILLED, deadline=math.inf)
        case Exited(), LifecycleState.RUNNING | LifecycleState.STOPPING | LifecycleState.KILLED:
            return _exited(lifecycle, event, now)
        case Restarting(), LifecycleState.ENDED:
            return _restarting(lifecycle)
    return lifecycle


def restored(restarts: int, exit_status: ExitStatus | None) -> ContainerLifecycle:
    """The lifecycle of a container that an earlier kubelet ran, whose process is no more."""
    if exit_status is None:
        return ContainerLifecycle(restarts=restarts)
    return ContainerLifecycle(
        LifecycleState.ENDED, exit_status.id, restarts, exit_status=exit_status
    )


def _started(lifecycle: ContainerLifecycle, event: Started, now: Moment) -> ContainerLifecycle:
    return replace(
        lifecycle,
        state=LifecycleState.RUNNING,
        id=event.id,
        # The first start is no restart, and one that failed was none either.
        restarts=lifecycle.restarts + (lifecycle.last_exit is not None),
        started_at=now,
        started=event.up,
        passed=lifecycle.passed or event.up,
        ready=event.up and event.ready,
        reason="",
        message="",
        start_backoff=0.0,
    )


def _start_failed(
    lifecycle: ContainerLifecycle, event: StartFailed, now: Moment
) -> ContainerLifecycle:
    delay = _longer(lifecycle.start_backoff)
    not_before = now.mono + delay
    return replace(
        lifecycle,
        reason=event.reason,
        message=event.message,
        start_backoff=delay,
        not_before=not_before,
    )


def _restarting(lifecycle: ContainerLifecycle) -> ContainerLifecycle:
    return ContainerLifecycle(
        restarts=lifecycle.restarts,
        passed=lifecycle.passed,
        last_exit=lifecycle.exit_status,
        backoff=lifecycle.backoff,
        not_before=lifecycle.not_before,
        last_delay=lifecycle.last_delay,
    )


def _probed(lifecycle: ContainerLifecycle, event: Probed) -> ContainerLifecycle:
    match event.check:
        case ProbeType.READINESS:
            return replace(lifecycle, ready=event.passed and lifecycle.started)
        case ProbeType.STARTUP if event.passed:
            return replace(lifecycle, started=True, passed=True, ready=event.ready)
    return lifecycle if event.passed else replace(lifecycle, failed_probe=event.check)


def _exited(lifecycle: ContainerLifecycle, event: Exited, now: Moment) -> ContainerLifecycle:
    ran = now.mono - lifecycle.started_at.mono if lifecycle.started_at else 0.0
    delay = 0.0 if ran > FORGET_SECONDS else lifecycle.backoff
    return replace(
        lifecycle,
        state=LifecycleState.ENDED,
        started=False,
        ready=False,
        failed_probe=None,
        deadline=math.inf,
        stop_until=math.inf,
        exit_status=_exit_status(lifecycle, event, now),
        backoff=_longer(delay),
        not_before=now.mono + delay,
        last_delay=delay,
    )


def _exit_status(lifecycle: ContainerLifecycle, event: Exited, now: Moment) -> ExitStatus:
    signal = max(0, -event.code)
    code = SIGNALLED + signal if signal else event.code
    reason = event.reason or ("Error" if code else "Completed")
    started_at = lifecycle.started_at.wall if lifecycle.started_at else None
    return ExitStatus(code, reason, lifecycle.id, signal, event.message, started_at, now.wall)


def _longer(backoff: float) -> float:
    return min(LONGEST_SECONDS, max(FIRST_SECONDS, backoff * 2))
