"""KWOK pod-complete: when a simulated pod has done its work, and with what exit code. Pure.

Only pods that are not restarted for ever end. What they say by annotation counts first, then what
their commands say (`shell_command`), then what the cluster was started with for all others.
"""

from __future__ import annotations

from msgspec import Struct

from quintant.cluster.common.completion_index import ANNOTATION, VARIABLE
from quintant.cluster.common.labels import EXIT_CODE, RUN_SECONDS
from quintant.cluster.simulated.shell_command import (
    MOST_SECONDS,
    Completion,
    command_completion,
)
from quintant.cluster.simulated.views import SimPod

DEFAULT_SECONDS = 2.0
"""How long a pod runs that says with what code it ends, and not when."""
ALWAYS, ON_FAILURE = "Always", "OnFailure"


class PodCompletion(Struct, frozen=True):
    """When the containers of a pod end, and each one's exit code."""

    seconds: float
    exit_codes: dict[str, int]
    restarts: bool
    """Whether they are started again, because one failed."""

    @property
    def failed(self) -> bool:
        return any(self.exit_codes.values())


def pod_completion(pod: SimPod, others: float | None = None) -> PodCompletion | None:
    """How a pod ends; None if nothing says that it does.

    `others` is after how many seconds pods end well of which nothing is known.
    """
    if pod.spec.restart_policy in ("", ALWAYS):
        return None
    found = _annotated(pod) or _by_commands(pod)
    if found is None and others is not None:
        found = {container.name: Completion(others) for container in pod.spec.containers}
    if not found:
        return None
    codes = {name: each.exit_code for name, each in found.items()}
    seconds = max(each.seconds for each in found.values())
    restarts = pod.spec.restart_policy == ON_FAILURE and any(codes.values())
    return PodCompletion(seconds, codes, restarts)


def _annotated(pod: SimPod) -> dict[str, Completion] | None:
    """What annotations say of all containers; what makes no sense says nothing."""
    code = _number(pod.metadata.annotations.get(EXIT_CODE, ""))
    seconds = _number(pod.metadata.annotations.get(RUN_SECONDS, ""))
    if code is None and seconds is None:
        return None
    whole = int(code or 0) % 256
    ends = Completion(DEFAULT_SECONDS if seconds is None else seconds, whole)
    return {container.name: ends for container in pod.spec.containers}


def _by_commands(pod: SimPod) -> dict[str, Completion] | None:
    """What commands say; a pod goes on for as long as one container might."""
    index = pod.metadata.annotations.get(ANNOTATION)
    variables = {} if index is None else {VARIABLE: index}
    found = {}
    for container in pod.spec.containers:
        ends = command_completion((*container.command, *container.args), variables)
        if ends is None:
            return None
        found[container.name] = ends
    return found


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number <= MOST_SECONDS else None
