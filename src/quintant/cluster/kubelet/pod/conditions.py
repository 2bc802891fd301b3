"""GeneratePodReadyCondition: the conditions of a pod, from its phase and its lifecycles.

Pure; part of a pod's status (quintant.cluster.kubelet.pod.status). Reasons, messages and the order
of conditions are those of a kubelet. A condition's time moves only when its status does, so that
nothing is written when nothing has changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from quintant.api.meta import Condition, condition_of, set_condition
from quintant.api.pod import Pod, PodSpec
from quintant.cluster.kubelet.container.lifecycle import ContainerLifecycle
from quintant.cluster.kubelet.pod.plan import initialized, is_sidecar

Lifecycles = Mapping[str, ContainerLifecycle]
Verdict = tuple[bool, str, str]
"""Whether something is so, and the reason and the message if there is more to say."""
_SO: Verdict = (True, "", "")


def conditions_of(
    pod: Pod, lifecycles: Lifecycles, phase: str, now: datetime, *, addressed: bool
) -> tuple[Condition, ...]:
    """The conditions that a pod has now; `addressed` if it has an address."""
    before, generation = pod.status.conditions, pod.metadata.generation or None
    found: list[Condition] = []
    for type, (status, reason, message) in _verdicts(pod, lifecycles, phase, addressed):
        given = [each for each in before if each.type == type]
        found += set_condition(
            given, type, status=status, reason=reason, message=message,
            generation=generation, now=now,
        )  # fmt: skip
    return tuple(found)


def _verdicts(
    pod: Pod, lifecycles: Lifecycles, phase: str, addressed: bool
) -> Iterator[tuple[str, Verdict]]:
    over = phase in ("Succeeded", "Failed")
    whole = _contained(pod.spec, lifecycles, phase)
    yield "PodReadyToStartContainers", (addressed and not over, "", "")
    yield "Initialized", _initialized(pod.spec, lifecycles, phase)
    yield "Ready", _gated(pod) if whole == _SO else whole
    yield "ContainersReady", whole
    yield "PodScheduled", _SO


def _initialized(spec: PodSpec, lifecycles: Lifecycles, phase: str) -> Verdict:
    if phase == "Succeeded":
        return True, "PodCompleted", ""
    missing = [
        each.name
        for each in spec.init_containers
        if not (
            lifecycles[each.name].started if is_sidecar(each) else lifecycles[each.name].succeeded
        )
    ]
    if not missing or initialized(spec, lifecycles):
        return _SO
    return False, "ContainersNotInitialized", _names("incomplete", missing)


def _contained(spec: PodSpec, lifecycles: Lifecycles, phase: str) -> Verdict:
    if phase == "Succeeded":
        return False, "PodCompleted", ""
    if phase == "Failed":
        return False, "PodFailed", ""
    lasting = (each for each in spec.init_containers if is_sidecar(each))
    unready = [
        each.name for each in (*lasting, *spec.containers) if not lifecycles[each.name].ready
    ]
    return (False, "ContainersNotReady", _names("unready", unready)) if unready else _SO


def _gated(pod: Pod) -> Verdict:
    """Whether the readiness gates of a pod are open."""
    names = (gate.condition_type for gate in pod.spec.readiness_gates)
    texts = [text for name in names if (text := _missing(pod, name))]
    if not texts:
        return _SO
    message = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return False, "ReadinessGatesNotReady", message


def _missing(pod: Pod, gate: str) -> str:
    found = condition_of(pod.status.conditions, gate)
    if found is None:
        return f'corresponding condition of pod readiness gate "{gate}" does not exist.'
    if found.status == "True":
        return ""
    return f'the status of pod readiness gate "{gate}" is not "True", but {found.status}'


def _names(what: str, names: Sequence[str]) -> str:
    return f"containers with {what} status: [{' '.join(names)}]"
