"""Explores a foreign program: undisturbed three times, then a run for every mode at every point.

Modes come one after another, those that find most first: who has little time has had the best of
it. A run that fails is made twice more. Three of three is a failure; less is listed apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from msgspec import Struct

from quintant.core.clock import monotonic
from quintant.core.errors import ConfigError, QuintantError
from quintant.testing.explore.checks import first_breach
from quintant.testing.explore.foreign.generated_names import GeneratedNames, learn_stems
from quintant.testing.explore.foreign.record import ForeignRecord, ForeignSetup, Recording
from quintant.testing.explore.foreign.report import ForeignFailure, ForeignReport
from quintant.testing.explore.foreign.run import make_run
from quintant.testing.explore.foreign.states import comparable, masked, self_differences
from quintant.testing.explore.injection.fault import (
    BY_OTHERS,
    FaultMode,
    PlannedFault,
    RunToken,
    named_fault,
)
from quintant.testing.explore.injection.trace import Point, PointKind, Trace
from quintant.testing.explore.story import failure_story

UNDISTURBED = 3
"""Runs without faults: what they do not agree on is chance."""
DISTURBED_POLLS = 2
"""Of a write that goes on at rest, how many are disturbed."""
TRIES = 3
"""How often a failing run is made before it counts."""
ORDER = (
    FaultMode.CRASH_AFTER,
    FaultMode.LOST,
    FaultMode.ERROR,
    FaultMode.CRASH_BEFORE,
    FaultMode.REWIND,
    FaultMode.CONFLICT,
    FaultMode.STALE,
    FaultMode.UNOBSERVED,
    FaultMode.HAND_OVER,
    *BY_OTHERS,
    FaultMode.TIMEOUT,
    FaultMode.THROTTLED,
    FaultMode.UNAVAILABLE,
)
"""What is tried; no remote of a foreign program is known, so nothing can be left outside."""
ON_EVENTS = frozenset((FaultMode.STALE, FaultMode.REWIND, FaultMode.UNOBSERVED))
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
        self.report = ForeignReport(setup.scenario.title)
        self._began = monotonic()

    async def explore(self) -> ForeignReport:
        """Make all runs; ConfigError if the program cannot be explored."""
        records = await self._record_undisturbed()
        recording = self._recorded(records)
        tokens = list(planned(records, self._options.modes, recording.polls))
        self.report.planned = len(tokens)
        self._progress(self.report)
        try:
            await self._try_all(tokens, recording, records[0])
        except* FirstIsEnough:
            pass
        self.report.seconds = self._seconds()
        self.report.failures.sort(key=lambda each: tokens.index(RunToken.parse(each.token)))
        return self.report

    async def _try_all(
        self, tokens: Sequence[RunToken], recording: Recording, undisturbed: ForeignRecord
    ) -> None:
        async with asyncio.TaskGroup() as group:
            for token in tokens:
                await self._slots.acquire()
                if self._is_late():
                    self._slots.release()
                    break
                group.create_task(self._try(token, recording, undisturbed))

    async def replay(self, token: RunToken) -> ForeignFailure | None:
        """Make one run again; ConfigError if its point never comes."""
        records = await self._record_undisturbed()
        recording = self._recorded(records)
        record = await make_run(self._setup, token, recording)
        if record.unreached:
            raise PointNeverCame(token, record.unreached)
        return self._failure(record, recording, records[0])

    async def _record_undisturbed(self) -> Sequence[ForeignRecord]:
        async def made() -> ForeignRecord:
            async with self._slots:
                return await make_run(self._setup)

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
            ignored = self._setup.scenario.ignore
            record.states = [comparable(each, record.names, ignored) for each in record.raw]
        differing = self_differences([each.states for each in records])
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

    async def _try(self, token: RunToken, recording: Recording, undisturbed: ForeignRecord) -> None:
        """Make a run, and twice more if it fails; releases the slot that its caller acquired."""
        try:
            failures, last = 0, None
            for number in range(TRIES):
                record = await self._made(token, recording)
                if record is None:
                    return
                if number == 0 and record.unreached:
                    self.report.never_came.append(str(token))
                    return
                failure = self._failure(record, recording, undisturbed)
                if failure is None and number == 0:
                    return
                failures += failure is not None
                last = failure or last
                if failure is not None and number == 0:
                    self.report.suspected += 1
                    self._progress(self.report)
            if last is not None:
                self._judge(ForeignFailure(last.token, last.why, last.story, failures, TRIES))
        finally:
            self.report.runs += 1
            self.report.seconds = self._seconds()
            self._slots.release()
            self._progress(self.report)

    def _judge(self, failure: ForeignFailure) -> None:
        self.report.suspected -= 1
        (self.report.failures if failure.is_certain else self.report.at_times).append(failure)
        self._announce(failure)
        if failure.is_certain and self._options.first:
            raise FirstIsEnough

    async def _made(self, token: RunToken, recording: Recording) -> ForeignRecord | None:
        """A run; None, and counted, if the machine does not let it be made twice."""
        for last in (False, True):
            try:
                return await make_run(self._setup, token, recording)
            except (OSError, QuintantError) as error:
                if last:
                    self.report.not_made.append(f"{token}: {error}")
        return None

    def _failure(
        self, record: ForeignRecord, recording: Recording, undisturbed: ForeignRecord
    ) -> ForeignFailure | None:
        expected = ForeignRecord(
            undisturbed.token,
            Trace(),
            states=list(recording.states),
            deletes=undisturbed.deletes,
        )
        breach = first_breach(expected, record)
        if breach is None:
            return None
        return ForeignFailure(str(record.token), breach.why, failure_story(record, breach))

    def _is_late(self) -> bool:
        return self._options.budget is not None and self._seconds() > self._options.budget

    def _seconds(self) -> float:
        return (monotonic() - self._began) / self._setup.origin.pace


class FirstIsEnough(Exception):
    """A failure was found, and no other is looked for."""


class PointNeverCame(ConfigError):
    """The point of a token is not reached: it is of another version of the program, perhaps."""

    def __init__(self, token: RunToken, points: Sequence[str]) -> None:
        super().__init__(
            f"cannot make the run {token}",
            because=f"the point never came: {', '.join(points)}",
            hint="explore again: the program or the scenario is another one",
        )


def planned(
    records: Sequence[ForeignRecord], modes: Sequence[FaultMode], polls: frozenset[str]
) -> Iterator[RunToken]:
    """A run for every mode at every point that all undisturbed runs have.

    Of what goes on at rest, the first times are enough.
    """
    common = set.intersection(*({each.key for each in record.trace.points} for record in records))
    points = [
        each
        for each in records[0].trace.points
        if each.key in common
        and (each.text not in polls or int(each.key.rpartition("#")[2]) <= DISTURBED_POLLS)
    ]
    writes = [each for each in points if each.kind is PointKind.WRITE]
    events = [each for each in points if each.kind is PointKind.EVENT]
    last = {each.subject: each.key for each in events}
    for mode in (each for each in ORDER if each in modes):
        chosen = events if mode in ON_EVENTS else writes
        if mode is FaultMode.UNOBSERVED:
            chosen = [each for each in events if last[each.subject] != each.key]
        elif mode in BY_OTHERS:
            chosen = writes[1:]
        elif mode is FaultMode.HAND_OVER and not all(each.elects for each in records):
            chosen = []
        for point in chosen:
            fault: PlannedFault = named_fault(mode, point.key)
            yield RunToken((fault,))


def _renamed(point: Point, names: GeneratedNames) -> Point:
    """A point of a run that did not know yet which names are chance."""
    table, _, key = point.subject.partition(" ")
    namespace, _, name = key.rpartition("/")
    numbered = names.numbers.get((table, namespace, name))
    head, _, number = point.name.rpartition("#")
    if numbered is None or not head.endswith(f"/{name}"):
        return point
    return replace(point, name=f"{head.removesuffix(name)}{numbered}#{number}")


def _fails_by_itself(setup: ForeignSetup, record: ForeignRecord) -> ConfigError:
    why = record.stopped.partition(": ")[2] or "; ".join(record.violations)
    if record.stopped.startswith("NeverQuiet"):
        return ConfigError(
            f"{setup.scenario.title} never gets quiet without any fault",
            because=why,
            hint="set `bound` to the seconds that it needs, or `exec: ok` if it runs commands",
        )
    return ConfigError(f"{setup.scenario.title} fails without any fault", because=why)
