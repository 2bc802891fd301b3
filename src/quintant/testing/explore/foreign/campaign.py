"""Explores a foreign program: undisturbed three times, then a run for every mode at every point.

Modes come one after another, those that find most first: who has little time has had the best of
it. A run that fails is made twice more, and one without faults beside it: three runs may agree by
chance, and what another one without faults shows as well is no failure. Three of three is one; less
is listed apart.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec import Struct, structs

from quintant.core.clock import monotonic
from quintant.core.errors import ConfigError, QuintantError
from quintant.testing.explore.checks import first_breach
from quintant.testing.explore.foreign.generated_names import GeneratedNames, learn_stems
from quintant.testing.explore.foreign.planning import ORDER, PointNeverCame, planned
from quintant.testing.explore.foreign.record import ForeignRecord, ForeignSetup, Recording
from quintant.testing.explore.foreign.report import UNDISTURBED, ForeignFailure, ForeignReport
from quintant.testing.explore.foreign.run import make_run
from quintant.testing.explore.foreign.states import comparable, masked, self_differences
from quintant.testing.explore.injection.fault import FaultMode, RunToken
from quintant.testing.explore.injection.trace import Point, Trace
from quintant.testing.explore.story import failure_story

TRIES = 3
"""How often a failing run is made before it counts."""
MOST_CONTROLS = 6
"""Further runs without faults that are made because others failed."""
Progress = Callable[[ForeignReport], None]
Announce = Callable[[ForeignFailure], None]


class ForeignOptions(Struct, frozen=True):
    """How much is tried."""

    modes: tuple[FaultMode, ...] = ORDER
    jobs: int = 2
    budget: float | None = None
    """Real seconds, after which no further run is begun."""
    first: bool = False
    """Whether the first failure is enough."""


class ForeignCampaign:
    """The exploration of one program."""

    def __init__(
        self,
        setup: ForeignSetup,
        options: ForeignOptions,
        progress: Progress = lambda report: None,
        announce: Announce = lambda failure: None,
    ) -> None:
        """`progress` is called after every run, `announce` with a failure as soon as it is one."""
        self._setup, self._options = setup, options
        self._progress, self._announce = progress, announce
        self._slots = asyncio.Semaphore(options.jobs)
        self.report: ForeignReport = ForeignReport(setup.scenario.title)
        self._began = monotonic()
        self._records: list[ForeignRecord] = []
        self._recording = Recording(())

    async def explore(self) -> ForeignReport:
        """Make all runs; ConfigError if the program cannot be explored."""
        await self._record()
        tokens = list(planned(self._records, self._options.modes, self._recording.polls))
        self.report.planned = len(tokens)
        self._progress(self.report)
        try:
            await self._try_all(tokens)
        except* FirstIsEnough:
            pass
        self.report.seconds = self._seconds()
        self.report.failures.sort(key=lambda each: tokens.index(RunToken.parse(each.token)))
        return self.report

    async def _try_all(self, tokens: Sequence[RunToken]) -> None:
        async with asyncio.TaskGroup() as group:
            for token in tokens:
                await self._slots.acquire()
                if self._is_late():
                    self._slots.release()
                    break
                group.create_task(self._try(token))

    async def replay(self, token: RunToken) -> ForeignFailure | None:
        """Make one run again, three times if it fails; ConfigError if its point never comes."""
        await self._record()
        self.report.planned = 1
        self._progress(self.report)
        async with self._slots:
            return await self._tried(token, alone=self._options.jobs > 1)

    async def _record(self) -> None:
        self._records = list(await self._record_undisturbed())
        self._recording = self._recorded(self._records)

    async def _record_undisturbed(self) -> Sequence[ForeignRecord]:
        async def made() -> ForeignRecord:
            async with self._slots:
                record = await make_run(self._setup)
            self.report.undisturbed_runs += 1
            self._progress(self.report)
            return record

        self._progress(self.report)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(made()) for _ in range(UNDISTURBED)]
        records = [each.result() for each in tasks]
        for record in records:
            if record.stopped or record.violations:
                raise _fails_by_itself(self._setup, record)
        return records

    def _recorded(self, records: Sequence[ForeignRecord]) -> Recording:
        """What undisturbed runs have in common; their states are rewritten with it."""
        stems = learn_stems([each.names.created for each in records])
        for record in records:
            record.names.learn(stems)
            record.trace.points = [_renamed(each, record.names) for each in record.trace.points]
            scenario = self._setup.scenario
            record.states = [
                comparable(each, record.names, scenario.ignore, history=not scenario.of_specs)
                for each in record.raw
            ]
        hidden = [record.hidden for record in records]
        differing = [
            each.shown_by(hidden) for each in self_differences([it.states for it in records])
        ]
        paths = [each.path for each in differing]
        for record in records:
            record.states = [masked(each, paths) for each in record.states]
        watches = tuple(
            frozenset.intersection(*each)
            for each in zip(*(record.watches for record in records), strict=False)
        )
        polls = frozenset(name for record in records for name in record.polls)
        self.report.note_undisturbed(records, differing, polls)
        return Recording(tuple(records[0].states), tuple(differing), watches, polls, stems)

    async def _try(self, token: RunToken) -> None:
        """Make a run; releases the slot that its caller acquired."""
        try:
            failure = await self._tried(token)
        except PointNeverCame:
            self.report.never_came.append(str(token))
        except NotMade as error:
            self.report.not_made.append(f"{token}: {error}")
        else:
            if failure is not None:
                self._judge(failure)
        finally:
            self.report.runs += 1
            self.report.tried.append(str(token))
            self.report.seconds = self._seconds()
            self._slots.release()
            self._progress(self.report)

    async def _tried(self, token: RunToken, *, alone: bool = False) -> ForeignFailure | None:
        """Make a run, and twice more if it fails: None if it does not, at the first time.

        All again if it turns out meanwhile that something differs by itself.
        """
        while True:
            recording = self._recording
            failure = await self._counted(token, recording, alone=alone)
            if failure is None or recording is self._recording:
                return failure

    async def _counted(
        self, token: RunToken, recording: Recording, *, alone: bool
    ) -> ForeignFailure | None:
        record = await self._made(token, recording)
        if record.unreached:
            raise PointNeverCame(token, record.unreached, self._records[0].trace.points)
        first = self._failure(record, recording)
        if first is None:
            return None
        self.report.suspected += 1
        self._progress(self.report)
        try:
            again = [self._made(token, recording) for _ in range(TRIES - 1)]
            # Side by side where it is the only run, or most of it is waiting.
            if alone or (self._setup.origin.pace == 1 and self._options.jobs > 1):
                records, _ = await asyncio.gather(asyncio.gather(*again), self._control())
            else:
                records = [await each for each in again]
                await self._control()
        finally:
            self.report.suspected -= 1
        found = (self._failure(each, recording) for each in records)
        failures = [first, *(each for each in found if each is not None)]
        # One of them may have met chance on its way.
        whys = Counter(each.why for each in failures)
        shown = max(failures, key=lambda it: whys[it.why])
        return ForeignFailure(shown.token, shown.why, shown.story, len(failures), TRIES)

    async def _control(self) -> None:
        """Make another run without faults; what differs in it, too, is compared no more."""
        if len(self._records) >= UNDISTURBED + MOST_CONTROLS:
            return
        try:
            record = await make_run(self._setup)
        except (OSError, QuintantError):
            return
        if record.stopped or record.violations:
            failure = self._failure(record, self._recording)
            assert failure is not None, "it did not come to its end, or did what must never be"
            self.report.at_times.append(structs.replace(failure, tries=len(self._records) + 1))
            return
        self._records.append(record)
        known, learnt = self._recording, self._recorded(self._records)
        if (known.paths, known.stems) != (learnt.paths, learnt.stems):
            self._recording = learnt
            self._progress(self.report)

    def _judge(self, failure: ForeignFailure) -> None:
        (self.report.failures if failure.is_certain else self.report.at_times).append(failure)
        self._announce(failure)
        if failure.is_certain and self._options.first:
            raise FirstIsEnough

    async def _made(
        self, token: RunToken, recording: Recording, setup: ForeignSetup | None = None
    ) -> ForeignRecord:
        """A run; NotMade if the machine does not let it be made twice."""
        try:
            return await make_run(setup or self._setup, token, recording)
        except (OSError, QuintantError):
            pass
        try:
            return await make_run(setup or self._setup, token, recording)
        except (OSError, QuintantError) as error:
            raise NotMade(str(error)) from None

    def _failure(self, record: ForeignRecord, recording: Recording) -> ForeignFailure | None:
        expected = ForeignRecord(
            RunToken(),
            Trace(),
            states=[each for each in recording.states if each is not None],
            deletes=self._records[0].deletes,
        )
        breach = first_breach(expected, record)
        if breach is None:
            return None
        why, story = map(record.hidden, (breach.why, failure_story(record, breach)))
        return ForeignFailure(str(record.token), why, story)

    def _is_late(self) -> bool:
        return self._options.budget is not None and self._seconds() > self._options.budget

    def _seconds(self) -> float:
        return (monotonic() - self._began) / self._setup.origin.pace


class FirstIsEnough(Exception):
    """A failure was found, and no other is looked for."""


class NotMade(Exception):
    """A run could not be made, twice."""


def _renamed(point: Point, names: GeneratedNames) -> Point:
    """A point of a run that did not know yet which names are chance."""
    table, _, key = point.subject.partition(" ")
    namespace, _, name = key.rpartition("/")
    numbered = names.numbers.get((table, namespace, name))
    if numbered is None:
        return point
    what, _, key = point.name.rpartition(":")
    head = f"{what}:{key.rpartition('/')[0]}/".replace(":/", ":")
    return replace(point, name=f"{head}{numbered}#{key.rpartition('#')[2]}")


def _fails_by_itself(setup: ForeignSetup, record: ForeignRecord) -> ConfigError:
    why = record.hidden(record.stopped.partition(": ")[2]) or "; ".join(record.violations)
    if record.stopped.startswith("NeverQuiet"):
        return ConfigError(
            f"{setup.scenario.title} never gets quiet without any fault",
            because=why,
            hint="set `bound` to the seconds that it needs, or `exec: ok` if it runs commands",
        )
    return ConfigError(
        f"{setup.scenario.title} fails without any fault",
        because=why,
        hint="do the same by hand before `quintant up`, with the program beside it",
    )
