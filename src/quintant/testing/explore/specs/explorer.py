"""Knows one scenario of specs: its plan, the run of every case, and what each comes to."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import msgspec

from quintant.client.merge_patch import merge_patch_between
from quintant.core.errors import ConfigError
from quintant.core.object import Object
from quintant.core.resource import resource_of
from quintant.core.schema.openapi import schema_of
from quintant.runtime.cache.client import Client
from quintant.testing.cluster import InProcessCluster
from quintant.testing.explore.checks import Breach
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.report.exploration import ExplorationFailure
from quintant.testing.explore.simulation.run import RunRecord, ScenarioRunner, apart
from quintant.testing.explore.simulation.scenario_world import refusal_of
from quintant.testing.explore.specs.checks import (
    ExpectedSpec,
    breach_at_once,
    first_breach,
    has_effect,
)
from quintant.testing.explore.specs.plan import SpecPlan, plan_specs
from quintant.testing.explore.specs.scenario import SpecScenario, good_spec
from quintant.testing.explore.specs.schema import Spec, spec_schema
from quintant.testing.explore.specs.transitions import SpecCase
from quintant.testing.explore.story import failure_story
from quintant.testing.loop import run

GOOD = b"{}"
"""The patch that changes nothing."""


class SpecExplorer:
    """Compares specs that are reached in steps with the same, applied at once."""

    def __init__(self, scenario: type[SpecScenario], target: str = "") -> None:
        """ConfigError if its good spec is not right."""
        self.title: str = scenario.title()
        self.effective: set[str] = set()
        """Properties that have shown in more than the spec."""
        self._scenario, self._target = scenario, target
        self._runner = ScenarioRunner(scenario)
        self.good: Spec = good_spec(scenario)
        self._at_once: dict[bytes, RunRecord] = {}
        first = self._applied(GOOD)
        if first.stopped or first.violations or first.refusals:
            why = [first.stopped, *first.violations, *first.refusals.values()]
            raise ConfigError(
                f"{self.title} fails with its good spec",
                because="; ".join(filter(None, why)),
                hint="give `subject` a spec with which all is well, and `surroundings` the rest",
            )

    def plan(self, count: int, seed: int) -> SpecPlan:
        """So many cases, the same for the same seed."""
        return apart(lambda: run(self._planned(count, seed)))

    async def _planned(self, count: int, seed: int) -> SpecPlan:
        cluster = InProcessCluster(world=self._runner.prepared())
        subject = self._scenario.subject
        await cluster.install(type(subject))
        await refusal_of(cluster.client, subject, self.good)
        trial = Client(cluster.client.rest, dry_run=True)

        async def refusal(spec: Spec) -> str:
            return await refusal_of(trial, subject, spec)

        schema = spec_schema(schema_of(type(subject)))
        try:
            fixed = self._scenario.fixed
            return await plan_specs(schema, self.good, refusal, count=count, seed=seed, fixed=fixed)
        finally:
            await cluster.close()

    def token(self, case: SpecCase) -> RunToken:
        """The run of a case: the good spec, those of the case, and the good one again."""
        patches = (msgspec.json.encode(merge_patch_between(self.good, spec)) for spec in case.specs)
        return RunToken(specs=(GOOD, *patches, GOOD))

    def run_case(self, case: SpecCase) -> ExplorationFailure | None:
        """Make the run of a case, shrunk if it fails; what does not hold of it, if anything."""
        token = self.token(case)
        self._note_effect(case, token)
        failure = self.run(token)
        return None if failure is None else self._shrunk(token, failure)

    def run(self, token: RunToken) -> ExplorationFailure | None:
        """Make one run; what does not hold of it, or of one of its specs at once, if anything."""
        for patch in token.specs:
            record = self._applied(patch)
            if (breach := breach_at_once(record)) is not None:
                return self._failure(record, breach)
        record = self._runner.run(token)
        breach = first_breach(record, self._expected(token))
        return None if breach is None else self._failure(record, breach)

    def _expected(self, token: RunToken) -> dict[bytes, ExpectedSpec]:
        """What is known of the specs of a run from those in which each is applied at once."""
        subject, scenario = _title(self._scenario.subject), self._scenario()
        found = {}
        for patch in token.specs:
            record = self._applied(patch)
            state = record.states[0] if record.states else {}
            own = state.get(subject, {})
            # However it looks, the good one is what there is to return to.
            hopeless = patch != GOOD and bool(own) and scenario.hopeless(own)
            found[patch] = ExpectedSpec(state, record.refusals.get(0, ""), hopeless)
        return found

    def _applied(self, patch: bytes) -> RunRecord:
        """The run in which a spec is applied to an empty world."""
        if patch not in self._at_once:
            self._at_once[patch] = self._runner.run(RunToken(specs=(patch,)))
        return self._at_once[patch]

    def _note_effect(self, case: SpecCase, token: RunToken) -> None:
        if len(case.about) != 1:
            return
        subject = _title(self._scenario.subject)
        (good,) = self._applied(GOOD).states
        for patch in token.specs:
            record = self._applied(patch)
            # What is refused is not there at all, and so differs in everything.
            states = () if record.refusals else record.states
            if any(has_effect(good, state, subject) for state in states):
                self.effective.update(case.about)

    def _shrunk(self, token: RunToken, failure: ExplorationFailure) -> ExplorationFailure:
        """The same with as few specs as possible."""
        if len(RunToken.parse(failure.token).specs) == 1:
            return failure
        smaller = True
        while smaller:
            smaller = False
            for fewer in _fewer(token):
                found = self.run(fewer)
                if found is not None:
                    token, failure, smaller = fewer, found, True
                    break
        return failure

    def _failure(self, record: RunRecord, breach: Breach) -> ExplorationFailure:
        story = failure_story(record, breach, "")
        lines = [f"  spec {at}: {each.decode()}" for at, each in enumerate(record.token.specs)]
        if self._target:
            words = ("quintant", "explore", self._target, "--replay", str(record.token))
            repeat = shlex.join(words)
            story = f"{story}\n  repeat: {repeat}"
        return ExplorationFailure(str(record.token), breach.why, "\n".join([*lines, story]))


def _title(subject: Object) -> str:
    """What an object is called in a state: by its table and key."""
    resource = resource_of(type(subject))
    table = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    return f"{table} {subject.key}"


def _fewer(token: RunToken) -> Iterator[RunToken]:
    """The same run without one of its specs in between."""
    for left_out in range(1, len(token.specs) - 1):
        specs = token.specs[:left_out] + token.specs[left_out + 1 :]
        if len(specs) > 2:
            yield RunToken(specs=specs)
