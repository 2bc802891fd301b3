"""Explores the specs of a foreign kind: each reached in steps, and applied at once.

differential   a spec that was reached in steps = the same spec applied at once to an empty world
recoverable    back at the good one, it is as if there had never been another; what the server
               refuses changes nothing
consistent     a property that shows nowhere but in the spec is listed, and is no failure

What fails is made twice more, and so is what it is compared with: 3 of 3 is a failure.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from quintant.testing.explore.checks import Breach
from quintant.testing.explore.foreign.campaign import (
    TRIES,
    Announce,
    FirstIsEnough,
    ForeignCampaign,
    ForeignOptions,
    NotMade,
    Progress,
)
from quintant.testing.explore.foreign.record import ForeignRecord, ForeignSetup, Recording
from quintant.testing.explore.foreign.report import ForeignFailure, ForeignReport
from quintant.testing.explore.foreign.specs.plan import GOOD, SpecSubject
from quintant.testing.explore.foreign.specs.states import is_hopeless, wants_pods
from quintant.testing.explore.foreign.states import self_differences
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.simulation.normalise import Normalised
from quintant.testing.explore.specs.checks import ExpectedSpec, first_breach, has_effect, sort_of
from quintant.testing.explore.specs.plan import SpecPlan
from quintant.testing.explore.specs.transitions import SpecCase
from quintant.testing.explore.story import failure_story


class AtOnce(Struct, frozen=True):
    """What a spec comes to in an empty world."""

    state: Normalised | None
    """None where it is not compared: nothing can come of the spec, or it never gets quiet."""
    refused: str = ""
    restless: bool = False
    crashed: str = ""
    """What must never be, whatever the spec says."""


class ForeignSpecCampaign(ForeignCampaign):
    """The exploration of the specs of one program."""

    def __init__(
        self,
        setup: ForeignSetup,
        subject: SpecSubject,
        options: ForeignOptions,
        progress: Progress = lambda report: None,
        announce: Announce = lambda failure: None,
    ) -> None:
        super().__init__(setup, options, progress, announce)
        self._subject = subject
        self._at_once: dict[bytes, AtOnce] = {}
        self._locks: defaultdict[bytes, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._effective: set[str] = set()
        self._common = Recording(())

    async def explore_specs(self, plan: SpecPlan) -> ForeignReport:
        """Make the runs of all cases; ConfigError if the good spec cannot be explored."""
        self.report.planned = len(plan.cases)
        await self._learn_good()
        try:
            await self._try_cases(plan.cases)
        except* FirstIsEnough:
            pass
        self.report.without_effect = self._without_effect(plan)
        self.report.seconds = self._seconds()
        return self.report

    async def _try_cases(self, cases: Sequence[SpecCase]) -> None:
        async with asyncio.TaskGroup() as group:
            for case in cases:
                await self._slots.acquire()
                if self._is_late():
                    self._slots.release()
                    break
                group.create_task(self._try_case(case))

    async def replay_specs(self, token: RunToken) -> ForeignFailure | None:
        """Make the run of one case again."""
        self.report.planned = 1
        await self._learn_good()
        async with self._slots:
            return await self._judged(token.specs)

    async def _learn_good(self) -> None:
        records = await self._record_undisturbed()
        recording = self._recorded(records)
        self._common = replace(recording, states=())
        self._at_once[GOOD] = AtOnce(recording.states[0])
        self._progress(self.report)

    async def _try_case(self, case: SpecCase) -> None:
        patches = self._subject.patches(case)
        token = str(RunToken(specs=patches))
        try:
            failure = await self._judged(patches)
            self._note_effect(case, patches)
        except NotMade as error:
            self.report.not_made.append(f"{token}: {error}")
        else:
            if failure is not None and not self._is_known(failure):
                self._judge(failure)
        finally:
            self.report.runs += 1
            self.report.tried.append(token)
            self.report.seconds = self._seconds()
            self._slots.release()
            self._progress(self.report)

    async def _judged(self, patches: Sequence[bytes]) -> ForeignFailure | None:
        """What does not hold of specs one after the other, 3 times of 3 or less."""
        at_once = [await self._known(each) for each in patches]
        for patch, each in zip(patches, at_once, strict=True):
            if each.crashed:
                token = str(RunToken(specs=(patch,)))
                return ForeignFailure(token, each.crashed, f"  => {each.crashed}", TRIES, TRIES)
        found: list[ForeignFailure] = []
        for tried in range(1, TRIES + 1):
            record = await self._in_steps(patches, at_once)
            breach = self._breach(record, patches, at_once)
            if breach is not None:
                why, story = map(record.hidden, (breach.why, failure_story(record, breach)))
                found.append(ForeignFailure(str(RunToken(specs=tuple(patches))), why, story))
            if not found:
                return None
            if tried == 1:
                at_once = [await self._again(*each) for each in zip(patches, at_once, strict=True)]
        last = found[-1]
        return ForeignFailure(last.token, last.why, last.story, len(found), TRIES)

    async def _known(self, patch: bytes) -> AtOnce:
        async with self._locks[patch]:
            if patch not in self._at_once:
                self._at_once[patch] = await self._applied(patch)
            return self._at_once[patch]

    async def _applied(self, patch: bytes) -> AtOnce:
        """What comes of a spec in an empty world."""
        record = await self._spec_run((patch,), Recording((None,)))
        if record.violations:
            return AtOnce(None, crashed=record.violations[0])
        if record.stopped.startswith("CrashLoop"):
            return AtOnce(None, crashed=record.stopped)
        if record.refusals:
            return AtOnce(None, refused=record.refusals[0])
        if record.stopped or not record.states:
            return AtOnce(None, restless=True)
        state = record.states[0]
        good = self._at_once[GOOD].state
        hopeless = is_hopeless(state) or (wants_pods(state) and not wants_pods(good or {}))
        return AtOnce(None if hopeless else state)

    async def _again(self, patch: bytes, known: AtOnce) -> AtOnce:
        """The same without what it does not agree on with itself."""
        if known.state is None or patch == GOOD:
            return known
        other = await self._applied(patch)
        if other.state is None:
            return other
        found = self_differences([[known.state], [other.state]])
        self.report.differing = (*self.report.differing, *found)
        return AtOnce(None) if found else known

    async def _in_steps(self, patches: Sequence[bytes], at_once: Sequence[AtOnce]) -> ForeignRecord:
        restless = frozenset(n for n, each in enumerate(at_once) if each.restless)
        states = tuple(each.state for each in at_once)
        return await self._spec_run(patches, Recording(states, restless=restless))

    async def _spec_run(self, patches: Sequence[bytes], expected: Recording) -> ForeignRecord:
        common = self._common
        recording = replace(
            common,
            states=expected.states,
            restless=expected.restless,
            # What was watched at the end of the good spec need not be at that of another.
            watches=common.watches[:1],
        )
        setup = replace(self._setup, scenario=self._subject.scenario(patches))
        token = RunToken(specs=tuple(patches))
        return await self._made(token, recording, setup)

    def _breach(
        self, record: ForeignRecord, patches: Sequence[bytes], at_once: Sequence[AtOnce]
    ) -> Breach | None:
        expected = {
            patch: ExpectedSpec(each.state or {}, each.refused, each.state is None)
            for patch, each in zip(patches, at_once, strict=True)
        }
        return first_breach(record, expected)

    def _is_known(self, failure: ForeignFailure) -> bool:
        """Whether another one has shown the same: a reader needs one example of each."""
        sort = sort_of(failure.why)
        known = (*self.report.failures, *self.report.at_times)
        return any(sort == sort_of(each.why) for each in known)

    def _note_effect(self, case: SpecCase, patches: Sequence[bytes]) -> None:
        if len(case.about) != 1:
            return
        good = self._at_once[GOOD].state or {}
        kind, name = self._subject.key
        title = next(
            (t for t, d in good.items() if d.get("kind") == kind and t.endswith(f"/{name}")), ""
        )
        for patch in patches:
            known = self._at_once[patch]
            # Of what never came to rest nothing is known: it is not listed.
            if not known.refused and (known.state is None or has_effect(good, known.state, title)):
                self._effective.update(case.about)

    def _without_effect(self, plan: SpecPlan) -> tuple[str, ...]:
        if self.report.runs < len(plan.cases) or self.report.not_made:
            return ()
        tried = {name for case in plan.cases if len(case.about) == 1 for name in case.about}
        return tuple(sorted(tried - self._effective))
