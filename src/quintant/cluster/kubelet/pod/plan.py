"""What a pod needs next: a pure function of its spec, its containers' lives and the time.

    STARTING ──init containers, one after another──> RUNNING ──all ended for good──> FINISHING
        └────────────────────── an order to end ────────┴──> ENDING ──> OVER <─────────┘

Sidecars (init containers that are always restarted) start in their turn, stay, and end last, in
reverse order. A plan is executed by the sandbox, which then asks again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto

from msgspec import Struct

from quintant.api.container import Container
from quintant.api.pod import PodSpec
from quintant.cluster.kubelet.container.lifecycle import ContainerLifecycle, State
from quintant.cluster.kubelet.container.lifecycle_events import Check

ALWAYS, ON_FAILURE, NEVER = "Always", "OnFailure", "Never"
DEFAULT_GRACE = 30


class Stage(Enum):
    """Where a pod is in its life."""

    STARTING = auto()
    """Its init containers have not all done their work."""
    RUNNING = auto()
    FINISHING = auto()
    """Its own containers have ended for good; sidecars are being stopped."""
    ENDING = auto()
    """It was told to end."""
    OVER = auto()
    """Nothing of it runs, and nothing will again."""


class Termination(Struct, frozen=True):
    """A pod has to end: it is being deleted, or its time is up."""

    until: float
    """When whatever still runs is killed, in the loop's time."""
    grace: float = 0.0
    """How long that was from when it was ordered: only a shorter one changes it."""
    reason: str = ""
    message: str = ""
    """What the pod's status says about it; empty for a deletion."""


class Start(Struct, frozen=True):
    """Start a container."""

    name: str


class Renew(Struct, frozen=True):
    """Let a container that ended wait for its next start."""

    name: str


class Stop(Struct, frozen=True):
    """Ask a container to end."""

    name: str
    until: float
    note: str
    """What the event says."""


class Kill(Struct, frozen=True):
    """End a container now."""

    name: str


Action = Start | Renew | Stop | Kill


class Plan(Struct, frozen=True):
    """What to do now, and when to look again if nothing happens."""

    stage: Stage
    actions: tuple[Action, ...] = ()
    wake: float = math.inf


def plan(
    spec: PodSpec, lives: Mapping[str, ContainerLifecycle], order: Termination | None, now: float
) -> Plan:
    """What a pod needs next."""
    stage = stage_of(spec, lives, order)
    match stage:
        case Stage.ENDING | Stage.FINISHING:
            actions = [*_stopping(spec, lives, order, now)]
        case Stage.OVER:
            actions = []
        case _:
            actions = [*_going(spec, lives, now)]
    actions += _overdue(lives, now)
    return Plan(stage, tuple(actions), _wake(spec, lives, stage, now))


def stage_of(
    spec: PodSpec, lives: Mapping[str, ContainerLifecycle], order: Termination | None
) -> Stage:
    """Where a pod is in its life."""
    if order is not None or hopeless(spec, lives) or _finished(spec, lives):
        if not any(life.state.alive for life in lives.values()):
            return Stage.OVER
        return Stage.ENDING if order is not None else Stage.FINISHING
    return Stage.RUNNING if initialized(spec, lives) else Stage.STARTING


def sidecar(container: Container) -> bool:
    """Whether an init container stays."""
    return container.restart_policy == ALWAYS


def initialized(spec: PodSpec, lives: Mapping[str, ContainerLifecycle]) -> bool:
    """Whether the pod's own containers may start."""
    return all(_passed(each, lives[each.name]) for each in spec.init_containers)


def hopeless(spec: PodSpec, lives: Mapping[str, ContainerLifecycle]) -> bool:
    """Whether an init container failed and will not be tried again."""
    ended = [lives[each.name].ending for each in spec.init_containers if not sidecar(each)]
    return spec.restart_policy == NEVER and any(each and each.code for each in ended)


def again(container: Container, life: ContainerLifecycle, policy: str) -> bool:
    """Whether a container that ended is started again."""
    policy = container.restart_policy or policy
    return life.outdated or policy == ALWAYS or (policy != NEVER and not life.succeeded)


def grace_of(spec: PodSpec) -> int:
    """How many seconds the pod's programs have to end."""
    given = spec.termination_grace_period_seconds
    return DEFAULT_GRACE if given is None else given


def _finished(spec: PodSpec, lives: Mapping[str, ContainerLifecycle]) -> bool:
    def done(container: Container) -> bool:
        life = lives[container.name]
        over = life.state is State.ENDED
        return over and not again(container, life, spec.restart_policy)

    return all(done(each) for each in spec.containers)


def _passed(container: Container, life: ContainerLifecycle) -> bool:
    """Whether an init container no longer holds back those after it."""
    return life.passed if sidecar(container) else life.succeeded


def _going(spec: PodSpec, lives: Mapping[str, ContainerLifecycle], now: float) -> Iterator[Action]:
    begun = initialized(spec, lives)
    for container in spec.init_containers:
        passed = _passed(container, lives[container.name])
        if sidecar(container) or not (begun or passed):
            yield from _tended(container, lives[container.name], spec, now)
        if not (begun or passed):
            return
    for container in spec.containers:
        yield from _tended(container, lives[container.name], spec, now)


def _tended(
    container: Container, life: ContainerLifecycle, spec: PodSpec, now: float
) -> Iterator[Action]:
    """What one container needs to go on."""
    if life.state is State.ENDED and again(container, life, spec.restart_policy):
        yield Renew(container.name)
    elif life.state is State.WAITING and life.again <= now:
        yield Start(container.name)
    elif life.state is State.RUNNING and life.outdated:
        note = f"Container {container.name} definition changed, will be restarted"
        yield Stop(container.name, now + grace_of(spec), note)
    elif life.state is State.RUNNING and life.unwell is not None:
        until = now + _probe_grace(container, life.unwell, spec)
        yield Stop(container.name, until, _ill(container, life.unwell, spec.restart_policy))


def _stopping(
    spec: PodSpec, lives: Mapping[str, ContainerLifecycle], order: Termination | None, now: float
) -> Iterator[Action]:
    until = now + grace_of(spec) if order is None else order.until
    busy = [each for each in spec.containers if lives[each.name].state.alive]
    first: Iterable[Container] = [*busy, *(e for e in spec.init_containers if not sidecar(e))]
    if not busy:
        staying = [e for e in spec.init_containers if sidecar(e) and lives[e.name].state.alive]
        first = [*first, *staying[-1:]]
    for container in first:
        life = lives[container.name]
        sooner = order is not None and life.asked > order.until
        if life.state is State.RUNNING or (life.state is State.STOPPING and sooner):
            yield Stop(container.name, until, f"Stopping container {container.name}")


def _overdue(lives: Mapping[str, ContainerLifecycle], now: float) -> Iterator[Action]:
    for name, life in lives.items():
        if life.state is State.STOPPING and life.deadline <= now:
            yield Kill(name)


def _wake(
    spec: PodSpec, lives: Mapping[str, ContainerLifecycle], stage: Stage, now: float
) -> float:
    times = [life.deadline for life in lives.values() if life.state is State.STOPPING]
    if stage in (Stage.STARTING, Stage.RUNNING):
        times += [life.again for life in lives.values() if life.state is State.WAITING]
    return min((time for time in times if time > now), default=math.inf)


def _probe_grace(container: Container, check: Check, spec: PodSpec) -> float:
    probe = container.startup_probe if check is Check.STARTUP else container.liveness_probe
    given = probe.termination_grace_period_seconds if probe else None
    return grace_of(spec) if given is None else given


def _ill(container: Container, check: Check, policy: str) -> str:
    lasting = (container.restart_policy or policy) == NEVER
    fate = "" if lasting else ", will be restarted"
    return f"Container {container.name} failed {check.value.lower()} probe{fate}"
