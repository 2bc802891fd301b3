"""Knows one scenario: its undisturbed run, every run that disturbs it, and what each comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from quintant.core.errors import ConfigError
from quintant.testing.explore.checks import Breach, breach_of_deletion, first_breach
from quintant.testing.explore.injection.fault import (
    RENEWAL_MODES,
    FaultMode,
    PlannedFault,
    RunToken,
    faults_at,
    named_modes,
    renewal_faults,
)
from quintant.testing.explore.injection.trace import PointKind
from quintant.testing.explore.report.exploration import ExplorationFailure
from quintant.testing.explore.scenario import Scenario
from quintant.testing.explore.simulation.normalise import differences
from quintant.testing.explore.simulation.real_time import (
    MOST_SECONDS,
    WaitsInRealTime,
    no_real_time,
)
from quintant.testing.explore.simulation.run import RunRecord, ScenarioRunner
from quintant.testing.explore.story import failure_story

# Real seconds that a first run may wait, for the files of modules that it loads.
LOADING_SECONDS = 2.5


class Explorer:
    """Compares runs of a scenario with its undisturbed one."""

    def __init__(self, scenario: type[Scenario], *, target: str = "", proven: bool = False) -> None:
        """ConfigError if the scenario cannot be explored.

        `target` is where it can be found, for the command that a failure names. Of one that is
        `proven`, another process knows already that it does not differ from itself.
        """
        self._runner = ScenarioRunner(scenario)
        self._target = target
        self.title: str = scenario.title()
        self._calm_runs: dict[RunToken, RunRecord] = {}
        self.undisturbed: RunRecord = self._recorded(proven=proven)
        self._refusals = {name: model.refusals for name, model in scenario().remotes().items()}

    @property
    def points(self) -> Counter[PointKind]:
        """How many points of each sort there are."""
        return Counter(point.kind for point in self.undisturbed.trace.points)

    @property
    def steps(self) -> int:
        """How often the script waits for quiet."""
        return len(self.undisturbed.states)

    @property
    def failure(self) -> ExplorationFailure | None:
        """What does not hold even without any fault."""
        record = self.undisturbed
        return self._failure(record, next(map(Breach, record.violations), None))

    def plan(self, modes: Iterable[FaultMode] = FaultMode) -> list[RunToken]:
        """A run for every mode at every point."""
        named = tuple(modes)
        found = [*self._faults(self.undisturbed, named), *self._renewals(named)]
        return [RunToken((each,)) for each in found]

    def faults_after(
        self, token: RunToken, modes: Iterable[FaultMode] = FaultMode
    ) -> list[PlannedFault]:
        """Every mode at every point that a run reaches after its own fault."""
        record = self._run(token, LOADING_SECONDS)
        points = [(each.kind, each.index) for each in record.trace.points]
        struck = [points.index(at) for f in token.faults if (at := (f.kind, f.index)) in points]
        later = {*points[max(struck, default=-1) + 1 :]}
        return [each for each in self._faults(record, modes) if (each.kind, each.index) in later]

    def alike(self, tokens: Iterable[RunToken]) -> dict[RunToken, list[RunToken]]:
        """Of runs that are the same by construction the first, and with it the others."""
        found: dict[object, list[RunToken]] = {}
        for token in tokens:
            found.setdefault(self._begins(token), []).append(token)
        return {first: others for first, *others in found.values()}

    def _begins(self, token: RunToken) -> object:
        """What decides a run: of a crash alone what it leaves, of any other all that is in it."""
        if len(token.faults) != 1 or token != RunToken(token.faults):
            return token
        (fault,) = token.faults
        return self.undisturbed.crashes.get((fault.mode, fault.kind, fault.index), token)

    def _renewals(self, modes: Iterable[FaultMode]) -> list[PlannedFault]:
        """Every mode at every renewal of a lease that is competed for."""
        wanted = {*modes} & set(named_modes(self._runner.scenario.modes)) & {*RENEWAL_MODES}
        if not wanted or self._runner.scenario.replicas > 1:
            return []
        points = self._run(RunToken(elected=True), LOADING_SECONDS).trace.points
        return [each for each in renewal_faults(points) if each.mode in wanted]

    def _faults(self, record: RunRecord, modes: Iterable[FaultMode]) -> list[PlannedFault]:
        """Every mode at every point of a run."""
        allowed = set(named_modes(self._runner.scenario.modes))
        if FaultMode.PARENT_DELETED not in allowed:
            allowed.discard(FaultMode.PARENT_GONE)
        wanted, points = {*modes} & allowed, record.trace.points
        # Who is deleted after the last step causes work while there should be none.
        resting = {(each.kind, each.index) for each in points if each.step >= self.steps}
        return [
            each
            for each in faults_at(points, self._refusals, replicas=self._runner.scenario.replicas)
            if each.mode in wanted
            and not (each.mode is FaultMode.PARENT_GONE and (each.kind, each.index) in resting)
        ]

    def run(self, token: RunToken) -> ExplorationFailure | None:
        """Make one run; what does not hold of it, if anything.

        ConfigError if its point never comes, though nothing else is changed before it.
        """
        record = self._run(token, LOADING_SECONDS)
        if record.unreached and token.is_single:
            raise ConfigError(
                f"cannot make the run {token}",
                because=f"the scenario never comes to {', '.join(record.unreached)}",
                hint="explore again: the scenario or its managers have changed",
            )
        if record.gone and record.states:
            calm = self._calm(len(record.states), record.gone)
            return self._failure(record, breach_of_deletion(calm, record))
        return self._failure(record, first_breach(self.undisturbed, record))

    def _calm(self, steps: int, gone: str) -> RunRecord:
        """The run in which somebody is deleted for good after so many steps, in the calm."""
        token = RunToken(steps=steps, gone=gone)
        if token not in self._calm_runs:
            self._calm_runs[token] = self._run(token, LOADING_SECONDS)
        return self._calm_runs[token]

    def _run(self, token: RunToken, most: float) -> RunRecord:
        title = f"{self.title} {token}" if token != RunToken() else self.title
        with suppress(WaitsInRealTime), no_real_time(title, most):
            return self._runner.run(token)
        # A busy machine keeps a run waiting once; a scenario that waits does so every time.
        with no_real_time(title, most):
            return self._runner.run(token)

    def _failure(self, record: RunRecord, breach: Breach | None) -> ExplorationFailure | None:
        if breach is None:
            return None
        story = failure_story(record, breach, self._target)
        return ExplorationFailure(str(record.token), breach.why, story)

    def _recorded(self, *, proven: bool) -> RunRecord:
        first = self._run(RunToken(), LOADING_SECONDS)
        if first.stopped:
            raise _stopped(self.title, first)
        if not proven:
            second = self._run(RunToken(), MOST_SECONDS)
            if first.digest != second.digest:
                raise _differs(self.title, first, second)
        return first


def _stopped(title: str, record: RunRecord) -> ConfigError:
    kind, _, why = record.stopped.partition(": ")
    if kind in ("NeverQuiet", "LoopStuck"):
        return ConfigError(
            f"{title} never gets quiet",
            because=why.partition("\ntry: ")[0],
            hint="does a reconcile wake itself? or set `bound` to the virtual seconds it needs",
        )
    return ConfigError(f"{title} fails without any fault", because=record.stopped)


def _differs(title: str, first: RunRecord, second: RunRecord) -> ConfigError:
    pairs = zip(first.trace.lines, second.trace.lines, strict=False)
    found = next((f"once {a.strip()!r}, once {b.strip()!r}" for a, b in pairs if a != b), "")
    states = next(differences(first.states, second.states), "")
    return ConfigError(
        f"{title} differs from itself without any fault",
        because=states or found or "a request or an answer was another one the second time",
        hint="use ctx.clock, ctx.random and injected ids instead of datetime.now() and random",
    )
