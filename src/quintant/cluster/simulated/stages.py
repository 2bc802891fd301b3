"""KWOK Stage: what happens to a simulated pod, and when, as data.

A pod is in the first stage whose `match` holds. After its delay the stage's `next` happens, and the
pod is looked at again. Stages from a file come before those of every pod (`defaults`):

    stages:
    - name: crash
      match: {labels: {app: flaky}, phase: Running, state: running}
      delay: 5
      next: {state: waiting, reason: CrashLoopBackOff, exitCode: 1, ready: false}
    - name: again
      match: {labels: {app: flaky}, reason: CrashLoopBackOff}
      delay: 10
      growth: 2
      next: {state: running, ready: true, restart: true}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from quintant.cluster.common.labels import FATE
from quintant.cluster.host.yaml_file import read_documents
from quintant.cluster.simulated.completion import PodCompletion, pod_completion
from quintant.cluster.simulated.views import SimPod, state_reason
from quintant.core.clock import Random
from quintant.core.errors import ConfigError
from quintant.core.object import Model, replace
from quintant.core.owner import controller_of

ANY = "*"
LONGEST_SECONDS = 300.0
"""Where a delay that grows with restarts stops growing, as a kubelet's does."""
NEW = "new"
BACK_OFF = "CrashLoopBackOff"
"""Why a program that failed is not started again yet."""
STATES = ("", "waiting", "running", "terminated")


class StageSelector(Model):
    """Which pods are in a stage: all that is given holds."""

    phase: str = ""
    """Pending, Running, Succeeded or Failed."""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    namespace: str = ""
    owner: str = ""
    """The kind of the pod's controller, such as Job."""
    image: str = ""
    """The image of one of its containers, as `broken*` or `*:404`."""
    fate: str = ""
    """The pod's annotation of that name; empty means that it has none, "*" that any will do."""
    state: str = ""
    """What the first container is: new (nothing is said of it), waiting, running or terminated."""
    reason: str = ""
    """The reason of that state."""
    restarts: int | None = None
    """The first container was restarted so often, at least."""
    deleting: bool = False
    """Somebody asked for its deletion; without this, nobody did."""

    def matches(self, pod: SimPod, fate: str) -> bool:
        """Whether a pod is in the stage."""
        meta, first = pod.metadata, pod.first
        found = state_reason(first) if first is not None else (NEW, "")
        owner = controller_of(pod)
        return (
            self.deleting is pod.deleting
            and self.fate in (ANY, fate)
            and self.phase in ("", pod.status.phase or "Pending")
            and self.namespace in ("", meta.namespace)
            and self.owner in ("", owner.kind if owner is not None else "")
            and (not self.image or self._of_image(pod))
            and self.state in ("", found[0])
            and self.reason in ("", found[1])
            and (self.restarts is None or pod.restarts >= self.restarts)
            and self.labels.items() <= meta.labels.items()
            and self.annotations.items() <= meta.annotations.items()
        )

    def _of_image(self, pod: SimPod) -> bool:
        return any(fnmatchcase(each.image, self.image) for each in pod.spec.containers)


class StageNext(Model):
    """What happens at the end of a stage; what is not given stays as it is."""

    phase: str = ""
    state: str = ""
    """What the containers become: waiting, running or terminated."""
    reason: str = ""
    message: str = ""
    exit_code: int = 0
    """Of what ran before, if it runs no more."""
    exit_codes: Mapping[str, int] = {}
    """The same of single containers, by name."""
    ready: bool | None = None
    restart: bool = False
    """Whether the containers' restarts are counted up."""
    delete: bool = False
    """Whether the pod goes away: its grace is over."""


class StageEvent(Model):
    """An event to tell of the end of a stage."""

    reason: str
    message: str = ""
    type: str = "Normal"


class Stage(Model):
    """A stage of a pod's life."""

    name: str
    match: StageSelector = StageSelector()
    delay: float = 0.0
    """Seconds until it ends."""
    jitter: float = 0.0
    """Seconds that are added at random, at most."""
    growth: float = 1.0
    """By which the delay is multiplied for every restart so far."""
    next: StageNext | None = None
    """What happens then; None means that the stage never ends."""
    event: StageEvent | None = None
    program: bool = False
    """Whether it is for pods whose programs end: without `next` it ends as they do, with one it is
    for those that are started again then."""

    def delay_seconds(self, restarts: int, random: Random) -> float:
        """How long it lasts for a pod that was restarted so often."""
        grown = self.delay
        if self.growth > 1 and restarts:
            # Beyond a few dozen restarts the power overflows, long after the limit is reached.
            grown = min(self.delay * self.growth ** min(restarts, 64), LONGEST_SECONDS)
        return grown + (random.uniform(0, self.jitter) if self.jitter else 0.0)


class Stages:
    """All stages, in the order in which they are tried."""

    def __init__(self, stages: Sequence[Stage], completion: float | None = None) -> None:
        """`completion` is after how many seconds pods end of whose programs nothing is known."""
        self._stages, self._completion = tuple(stages), completion
        self._fates = {stage.match.fate for stage in stages} - {"", ANY}

    def stage_of(self, pod: SimPod) -> Stage | None:
        """The stage a pod is in. A fate that no stage knows counts as none."""
        requested = pod.metadata.annotations.get(FATE, "")
        fate = requested if requested in self._fates else ""
        matching = (each for each in self._stages if each.match.matches(pod, fate))
        return next(filter(None, (self._ended_by_program(each, pod) for each in matching)), None)

    def _ended_by_program(self, stage: Stage, pod: SimPod) -> Stage | None:
        """A stage with the end of a pod's program; None if it is not for such a pod."""
        if not stage.program:
            return stage
        ends = pod_completion(pod, self._completion)
        if ends is None:
            return None
        if stage.next is not None:
            return stage if ends.restarts else None
        return replace(stage, delay=ends.seconds, next=_program_end(ends))


def _program_end(ends: PodCompletion) -> StageNext:
    """What a kubelet says of a pod whose programs have ended."""
    if ends.restarts:
        return StageNext(state="waiting", reason=BACK_OFF, ready=False, exit_codes=ends.exit_codes)
    phase = "Failed" if ends.failed else "Succeeded"
    return StageNext(phase=phase, state="terminated", ready=False, exit_codes=ends.exit_codes)


class _File(Model):
    stages: tuple[Stage, ...]


def load_stages(path: Path) -> tuple[Stage, ...]:
    """The stages of a file; ConfigError says what is wrong with it."""
    found = read_documents(path, _File, _unusable)
    stages = tuple(stage for file in found for stage in file.stages)
    for stage in stages:
        before, then = stage.match.state, stage.next.state if stage.next else ""
        if before not in (NEW, *STATES) or then not in STATES:
            raise _unusable(path, f"stage {stage.name!r} names an unknown state")
    return stages


def _unusable(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"cannot read the stages in {path}",
        because=why,
        hint="stages: [{name: late, match: {phase: Pending}, delay: 30, next: {phase: Running}}]",
    )
