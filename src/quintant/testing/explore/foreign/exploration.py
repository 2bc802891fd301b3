"""From a command line to a report: the pace, the world that every run begins with, the campaign.

Everything is on one loop of its own, whose time runs as fast as the program's clock.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from quintant.cluster.instance.pki import ClusterKeys
from quintant.core.errors import ConfigError, leaf_errors
from quintant.testing.explore.foreign.campaign import (
    Announce,
    ForeignCampaign,
    ForeignOptions,
    Progress,
)
from quintant.testing.explore.foreign.default_scenario import default_scenario
from quintant.testing.explore.foreign.pace import (
    MOST_PACE,
    USUAL_PACE,
    ProgramKind,
    cache_folder,
    clock_library,
    pace_variables,
    program_kind,
)
from quintant.testing.explore.foreign.paced_loop import PacedClock, PacedLoop, PaceOrigin
from quintant.testing.explore.foreign.program import ForeignCommand, remove_leftovers
from quintant.testing.explore.foreign.record import ForeignSetup
from quintant.testing.explore.foreign.report import UNDISTURBED, ForeignFailure, ForeignReport
from quintant.testing.explore.foreign.scenario_file import LoadedScenario, load_scenario_file
from quintant.testing.explore.foreign.servers.command import server_words
from quintant.testing.explore.foreign.servers.open_remote import open_remote
from quintant.testing.explore.foreign.servers.world_server import OpenServer
from quintant.testing.explore.foreign.specs.campaign import ForeignSpecCampaign
from quintant.testing.explore.foreign.specs.plan import (
    GOOD,
    SpecSubject,
    plan_foreign_specs,
    spec_subject,
)
from quintant.testing.explore.foreign.world import open_embedded, prepared_world
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.simulation.log_capture import captured_logs

T = TypeVar("T")


class ForeignTarget(Struct, frozen=True):
    """What is explored: a program, and what users do."""

    command: str
    scenario: Path | None = None
    crds: tuple[Path, ...] = ()
    sample: Path | None = None
    pace: float | None = None
    """How fast its clock runs; None lets the kind of the program decide."""
    server: str | None = None
    """What starts an API server for a run; None is the embedded one."""


class ChosenPace(Struct, frozen=True):
    """How fast the clock of a program runs, and why."""

    pace: float
    reason: str


class Exploration:
    """A program that is about to be explored."""

    def __init__(self, target: ForeignTarget) -> None:
        """ConfigError for what can be known before any process starts."""
        self.command: ForeignCommand = ForeignCommand.parse(target.command)
        self.chosen: ChosenPace = choose_pace(self.command, target.pace)
        self._target = target
        self._scenario = _given_scenario(target)
        self._server = server_words(target.server) if target.server is not None else ()
        self._library: Path | None = None
        if self.chosen.pace > 1:
            self._library = clock_library(cache_folder())
        self.origin: PaceOrigin = PaceOrigin.now(self.chosen.pace)
        remove_leftovers()

    def explore(
        self,
        options: ForeignOptions,
        progress: Progress = lambda report: None,
        announce: Announce = lambda failure: None,
    ) -> ForeignReport:
        """Make all runs."""

        async def explored() -> ForeignReport:
            return await ForeignCampaign(await self._setup(), options, progress, announce).explore()

        return self._run(explored)

    def explore_specs(
        self,
        options: ForeignOptions,
        count: int,
        seed: int,
        progress: Progress = lambda report: None,
        announce: Announce = lambda failure: None,
    ) -> ForeignReport:
        """Change the spec of the sample in so many ways."""

        async def explored() -> ForeignReport:
            subject = self._subject()
            plan = await plan_foreign_specs(subject, count, seed)
            setup = await self._prepared(subject.scenario((GOOD,)))
            campaign = ForeignSpecCampaign(setup, subject, options, progress, announce)
            return await campaign.explore_specs(plan)

        return self._run(explored)

    def replay(
        self, token: str, progress: Progress = lambda report: None, jobs: int = UNDISTURBED
    ) -> ForeignFailure | None:
        """Make one run again, three times if it fails."""
        parsed = RunToken.parse(token)

        async def replayed() -> ForeignFailure | None:
            options = ForeignOptions(jobs=jobs)
            if parsed.specs:
                subject = self._subject()
                setup = await self._prepared(subject.scenario((GOOD,)))
                specs = ForeignSpecCampaign(setup, subject, options, progress)
                return await specs.replay_specs(parsed)
            return await ForeignCampaign(await self._setup(), options, progress).replay(parsed)

        return self._run(replayed)

    def _run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        # What the embedded clusters log is about them, and each ends with its run.
        with (
            captured_logs(logging.ERROR),
            asyncio.Runner(loop_factory=lambda: PacedLoop(self.origin)) as runner,
        ):
            try:
                return runner.run(work())
            except BaseExceptionGroup as errors:
                raise leaf_errors(errors)[0] from None

    async def _setup(self) -> ForeignSetup:
        scenario = self._scenario
        if scenario is None:
            assert self._target.sample is not None, "it was checked"
            scenario = await default_scenario(self._target.crds, self._target.sample)
        return await self._prepared(scenario)

    def _subject(self) -> SpecSubject:
        """The object whose spec is changed; ConfigError without a sample of it."""
        if self._target.sample is None:
            raise ConfigError(
                "there is no spec to change",
                because="a scenario says itself what users write",
                hint="--crds config/crd --sample sample.yaml --specs 200",
            )
        return spec_subject(self._target.crds, self._target.sample)

    async def _prepared(self, scenario: LoadedScenario) -> ForeignSetup:
        keys = ClusterKeys.generate(PacedClock(self.origin).now())
        if self._server:
            opened: OpenServer = partial(open_remote, self._server, scenario, self.origin)
        else:
            base = await prepared_world(keys, scenario, self.origin)
            opened = open_embedded(keys, base, self.origin)
        return ForeignSetup(scenario, self.command, keys, opened, self.origin, self._variables())

    def _variables(self) -> Mapping[str, str]:
        return pace_variables(self._library, self.origin) if self._library is not None else {}


def choose_pace(command: ForeignCommand, wanted: float | None) -> ChosenPace:
    """How fast a program's clock runs; ConfigError if it cannot run so fast."""
    kind = program_kind(command.program)
    if kind is not ProgramKind.DYNAMIC:
        if wanted not in (None, 1.0):
            raise ConfigError(
                f"cannot make the clock of {command.program} {wanted:g} times as fast",
                because=f"it is {kind}, and asks the kernel itself what time it is",
                hint="leave --pace out: it runs in real time",
            )
        return ChosenPace(1.0, f"{command.program.name} is {kind}: it runs in real time")
    pace = wanted or USUAL_PACE
    if not 1 <= pace <= MOST_PACE:
        raise ConfigError(f"--pace is from 1 to {MOST_PACE:g}", hint=f"--pace {USUAL_PACE:g}")
    return ChosenPace(pace, f"the clock of {command.program.name} runs {pace:g} times as fast")


def _given_scenario(target: ForeignTarget) -> LoadedScenario | None:
    if target.scenario is not None:
        if target.sample is not None or target.crds:
            raise ConfigError(
                "a scenario names its definitions and samples itself",
                because="--crds and --sample are for exploring without one",
                hint=f"write them into {target.scenario}, under `crds` and `steps`",
            )
        return load_scenario_file(target.scenario)
    if target.sample is None:
        raise ConfigError(
            "there is nothing to explore the program with",
            because="neither a scenario nor a sample is given",
            hint="quintant explore --command '…' --crds config/crd --sample sample.yaml",
        )
    return None
