"""computePodActions: what a pod needs next, from its spec, its lifecycles and the time. Pure.

    STARTING ──init containers, one after another──> RUNNING ──all ended for good──> FINISHING
        └────────────────────── a termination ──────────┴──> ENDING ──> OVER <─────────┘

Sidecars (init containers that are always restarted) start in their turn, stay, and end last, in
reverse order. Ephemeral containers start at once, are never started again, and keep no pod alive.
A plan is executed by the sandbox, which then asks again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto

from msgspec import Struct

from quintant.api.container import Container
from quintant.api.pod import PodSpec
from quintant.cluster.kubelet.container.lifecycle import ContainerLifecycle, LifecycleState
from quintant.cluster.kubelet.container.lifecycle_events import ProbeType

ALWAYS, ON_FAILURE, NEVER = "Always", "OnFailure", "Never"
DEFAULT_GRACE = 30


class PodStage(Enum):
    """Where a pod is between its start and its end."""

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


class StartContainer(Struct, frozen=True):
    """Start a container."""

    name: str


class RestartContainer(Struct, frozen=True):
    """Let a container that ended wait for its next start."""

    name: str


class StopContainer(Struct, frozen=True):
    """Ask a container to end."""

    name: str
    until: float
    note: str
    """What the event says."""


class KillContainer(Struct, frozen=True):
    """End a container now."""

    name: str


Action = StartContainer | RestartContainer | StopContainer | KillContainer


class PodActions(Struct, frozen=True):
    """What to do now, and when to look again if nothing happens."""

    stage: PodStage
    actions: tuple[Action, ...] = ()
    wake_at: float = math.inf


def compute_pod_actions(
    spec: PodSpec,
    lifecycles: Mapping[str, ContainerLifecycle],
    termination: Termination | None,
    now: float,
) -> PodActions:
    """What a pod needs next."""
    stage = stage_of(spec, lifecycles, termination)
    match stage:
        case PodStage.ENDING | PodStage.FINISHING:
            actions = [*_stop_actions(spec, lifecycles, termination, now)]
        case PodStage.OVER:
            actions = []
        case _:
            actions = [*_running_actions(spec, lifecycles, now)]
    actions += _kill_actions(lifecycles, now)
    return PodActions(stage, tuple(actions), _next_wake(spec, lifecycles, stage, now))


def stage_of(
    spec: PodSpec, lifecycles: Mapping[str, ContainerLifecycle], termination: Termination | None
) -> PodStage:
    """Where a pod is between its start and its end."""
    if termination is not None or init_failed(spec, lifecycles) or _finished(spec, lifecycles):
        if not any(lifecycle.state.alive for lifecycle in lifecycles.values()):
            return PodStage.OVER
        return PodStage.ENDING if termination is not None else PodStage.FINISHING
    return PodStage.RUNNING if initialized(spec, lifecycles) else PodStage.STARTING


def is_sidecar(container: Container) -> bool:
    """Whether an init container stays."""
    return container.restart_policy == ALWAYS


def initialized(spec: PodSpec, lifecycles: Mapping[str, ContainerLifecycle]) -> bool:
    """Whether the pod's own containers may start."""
    return all(_passed(each, lifecycles[each.name]) for each in spec.init_containers)


def init_failed(spec: PodSpec, lifecycles: Mapping[str, ContainerLifecycle]) -> bool:
    """Whether an init container failed and will not be tried again."""
    ended = [
        lifecycles[each.name].exit_status for each in spec.init_containers if not is_sidecar(each)
    ]
    return spec.restart_policy == NEVER and any(each and each.code for each in ended)


def should_restart(container: Container, lifecycle: ContainerLifecycle, policy: str) -> bool:
    """Whether a container that ended is started again."""
    policy = container.restart_policy or policy
    return (
        lifecycle.image_changed or policy == ALWAYS or (policy != NEVER and not lifecycle.succeeded)
    )


def grace_period(spec: PodSpec) -> int:
    """How many seconds the pod's programs have to end."""
    given = spec.termination_grace_period_seconds
    return DEFAULT_GRACE if given is None else given


def _finished(spec: PodSpec, lifecycles: Mapping[str, ContainerLifecycle]) -> bool:
    def done(container: Container) -> bool:
        lifecycle = lifecycles[container.name]
        over = lifecycle.state is LifecycleState.ENDED
        return over and not should_restart(container, lifecycle, spec.restart_policy)

    return all(done(each) for each in spec.containers)


def _passed(container: Container, lifecycle: ContainerLifecycle) -> bool:
    """Whether an init container no longer holds back those after it."""
    return lifecycle.passed if is_sidecar(container) else lifecycle.succeeded


def _running_actions(
    spec: PodSpec, lifecycles: Mapping[str, ContainerLifecycle], now: float
) -> Iterator[Action]:
    for added in spec.ephemeral_containers:
        if lifecycles[added.name].state is not LifecycleState.ENDED:
            yield from _container_actions(added, lifecycles[added.name], spec, now)
    begun = initialized(spec, lifecycles)
    for container in spec.init_containers:
        passed = _passed(container, lifecycles[container.name])
        if is_sidecar(container) or not (begun or passed):
            yield from _container_actions(container, lifecycles[container.name], spec, now)
        if not (begun or passed):
            return
    for container in spec.containers:
        yield from _container_actions(container, lifecycles[container.name], spec, now)


def _container_actions(
    container: Container, lifecycle: ContainerLifecycle, spec: PodSpec, now: float
) -> Iterator[Action]:
    """What one container needs to go on."""
    if lifecycle.state is LifecycleState.ENDED and should_restart(
        container, lifecycle, spec.restart_policy
    ):
        yield RestartContainer(container.name)
    elif lifecycle.state is LifecycleState.WAITING and lifecycle.not_before <= now:
        yield StartContainer(container.name)
    elif lifecycle.state is LifecycleState.RUNNING and lifecycle.image_changed:
        note = f"Container {container.name} definition changed, will be restarted"
        yield StopContainer(container.name, now + grace_period(spec), note)
    elif lifecycle.state is LifecycleState.RUNNING and lifecycle.failed_probe is not None:
        until = now + _probe_grace(container, lifecycle.failed_probe, spec)
        yield StopContainer(
            container.name,
            until,
            _probe_failure_message(container, lifecycle.failed_probe, spec.restart_policy),
        )


def _stop_actions(
    spec: PodSpec,
    lifecycles: Mapping[str, ContainerLifecycle],
    termination: Termination | None,
    now: float,
) -> Iterator[Action]:
    until = now + grace_period(spec) if termination is None else termination.until
    own = (*spec.containers, *spec.ephemeral_containers)
    busy = [each for each in own if lifecycles[each.name].state.alive]
    first: Iterable[Container] = [*busy, *(e for e in spec.init_containers if not is_sidecar(e))]
    if not busy:
        staying = [
            e for e in spec.init_containers if is_sidecar(e) and lifecycles[e.name].state.alive
        ]
        first = [*first, *staying[-1:]]
    for container in first:
        lifecycle = lifecycles[container.name]
        sooner = termination is not None and lifecycle.stop_until > termination.until
        if lifecycle.state is LifecycleState.RUNNING or (
            lifecycle.state is LifecycleState.STOPPING and sooner
        ):
            yield StopContainer(container.name, until, f"Stopping container {container.name}")


def _kill_actions(lifecycles: Mapping[str, ContainerLifecycle], now: float) -> Iterator[Action]:
    for name, lifecycle in lifecycles.items():
        if lifecycle.state is LifecycleState.STOPPING and lifecycle.deadline <= now:
            yield KillContainer(name)


def _next_wake(
    spec: PodSpec, lifecycles: Mapping[str, ContainerLifecycle], stage: PodStage, now: float
) -> float:
    times = [
        lifecycle.deadline
        for lifecycle in lifecycles.values()
        if lifecycle.state is LifecycleState.STOPPING
    ]
    if stage in (PodStage.STARTING, PodStage.RUNNING):
        times += [
            lifecycle.not_before
            for lifecycle in lifecycles.values()
            if lifecycle.state is LifecycleState.WAITING
        ]
    return min((time for time in times if time > now), default=math.inf)


def _probe_grace(container: Container, check: ProbeType, spec: PodSpec) -> float:
    probe = container.startup_probe if check is ProbeType.STARTUP else container.liveness_probe
    given = probe.termination_grace_period_seconds if probe else None
    return grace_period(spec) if given is None else given


def _probe_failure_message(container: Container, check: ProbeType, policy: str) -> str:
    lasting = (container.restart_policy or policy) == NEVER
    fate = "" if lasting else ", will be restarted"
    return f"Container {container.name} failed {check.value.lower()} probe{fate}"
