"""One run of a foreign program: from a copied world to its record, in real time.

A cluster, a gateway and a supervisor are made for every run, and end with it. What an undisturbed
run is compared with is not known yet; of all others each step is compared as soon as it is quiet,
and the run ends with the first difference that a longer calm does not mend.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress

import msgspec

from quintant.client.request_info import ResourcePath
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import Table
from quintant.core.clock import monotonic
from quintant.core.errors import ConfigError, leaf_errors
from quintant.testing.explore.foreign.exec_answers import FAILED, ExecAnswers
from quintant.testing.explore.foreign.gateway import Gateway
from quintant.testing.explore.foreign.generated_names import GeneratedNames, made_stem
from quintant.testing.explore.foreign.leaks import SECRETS, SecretValues, panic_in
from quintant.testing.explore.foreign.paced_loop import PacedClock
from quintant.testing.explore.foreign.points import NamedPoints
from quintant.testing.explore.foreign.quiet import ForeignQuiet
from quintant.testing.explore.foreign.record import ForeignRecord, ForeignSetup, Recording
from quintant.testing.explore.foreign.scenario_file import (
    CALM_SECONDS,
    KOPF_CALM_SECONDS,
)
from quintant.testing.explore.foreign.servers.world_server import WorldServer
from quintant.testing.explore.foreign.states import (
    comparable,
    masked,
    plain_document,
)
from quintant.testing.explore.foreign.steps import ScenarioUser, StepRefused, describe
from quintant.testing.explore.foreign.supervisor import ProgramSupervisor
from quintant.testing.explore.injection.fault import FaultMode, RunToken
from quintant.testing.explore.injection.injector import Injector
from quintant.testing.explore.injection.somebody_else import SomebodyElse
from quintant.testing.explore.injection.subjects import subject_of, table_of
from quintant.testing.explore.injection.supervisor import CrashLoop
from quintant.testing.explore.injection.trace import Trace
from quintant.testing.explore.simulation.normalise import Normalised, normalised
from quintant.testing.explore.simulation.objects import IGNORED_TABLES, ObjectView, metadata
from quintant.testing.explore.simulation.quiescence import NeverQuiet

START_SECONDS = 20.0
"""Real seconds until a program has opened its first watch."""
SETTLED_SECONDS = 0.5
"""Real seconds without a new watch, after which a program that is not known is at work."""
LEAST_CALM = 1.0
"""Real seconds of calm at least: processes need some time, however fast their clock is."""
LEAST_BOUND = 20.0
"""Real seconds for a step to get quiet at least."""
BOUND_SECONDS = 240.0
"""Of the operator's clock: more than twice the longest calm."""
LOOK_SECONDS = 0.03
KOPF = "kopf/"
FINDINGS = (NeverQuiet, CrashLoop, StepRefused)
_BESIDE = IGNORED_TABLES | {"nodes", "csinodes.storage.k8s.io"}
"""Tables that are written at rest, by the cluster itself."""


async def make_run(
    setup: ForeignSetup, token: RunToken = RunToken(), recording: Recording | None = None
) -> ForeignRecord:
    """Make one run; ConfigError if the program cannot be explored."""
    record = ForeignRecord(token, Trace())
    record.names = GeneratedNames(recording.stems if recording is not None else frozenset())
    began = monotonic()
    try:
        async with AsyncExitStack() as stack:
            run = await _open(stack, setup, record, recording)
            try:
                await run.play()
            except* FINDINGS as error:
                found = leaf_errors(error)[0]
                record.stopped = f"{type(found).__name__}: {found}"
            run.close()
    except BaseExceptionGroup as errors:
        raise leaf_errors(errors)[0] from None
    record.seconds = (monotonic() - began) / setup.origin.pace
    return record


async def _open(
    stack: AsyncExitStack, setup: ForeignSetup, record: ForeignRecord, recording: Recording | None
) -> _ForeignRun:
    server = await stack.enter_async_context(setup.open())
    run = _ForeignRun(setup, record, recording, server)
    await stack.enter_async_context(run.gateway.serving())
    return run


class _ForeignRun:
    """A run under way."""

    def __init__(
        self,
        setup: ForeignSetup,
        record: ForeignRecord,
        recording: Recording | None,
        server: WorldServer,
    ) -> None:
        self._setup, self._record, self._recording = setup, record, recording
        stored, transport = server.stored, server.admin
        self._server, self._base = server, stored.snapshot()
        self._view = ObjectView(stored)
        trace, faults = record.trace, record.token.faults
        self._injector = Injector(faults, trace, NamedPoints(record.names))
        now = PacedClock(setup.origin).now()
        self.gateway = Gateway(server, self._injector, setup.keys, now, self._wrote)
        replicas = 2 if any(each.mode is FaultMode.HAND_OVER for each in faults) else 1
        self._supervisor = ProgramSupervisor(
            self.gateway, transport, setup.command, setup.variables, trace, replicas
        )
        self._quiet = ForeignQuiet(
            self.gateway,
            self._supervisor,
            setup.origin.pace,
            lambda: self._injector.holds,
            self._is_hurried,
        )
        self._last, self._number = False, 0
        if recording is None:
            self._quiet.recording = True
        else:
            self._quiet.polls = recording.polls
        self._written: set[str] = set()
        given = (each for manifests in setup.scenario.manifests for each in manifests)
        self._secrets = SecretValues(self._base, given)
        self._user = ScenarioUser(stored, transport)
        somebody = SomebodyElse(stored, transport, self._base, self._is_concerned)
        self._injector.attach(stored, somebody, self._supervisor.crash)
        if setup.scenario.exec is not None:
            code = 0 if setup.scenario.exec == "ok" else FAILED
            server.run_commands(ExecAnswers(code))
        stored.store.subscribe(self._changed)

    async def play(self) -> None:
        """Play the script to its end, or to the first step that comes to something else."""
        async with asyncio.TaskGroup() as group:
            running = group.create_task(self._supervisor.run())
            try:
                await self._begin()
                for number in range(len(self._setup.scenario.steps)):
                    if not await self._step(number):
                        break
            finally:
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running

    def close(self) -> None:
        """Note what is known at the end."""
        record, injector = self._record, self._injector
        record.trace.freeze()
        record.unreached, record.deletes = injector.unreached, injector.deletions.counts
        record.polls = self._quiet.repeated
        record.elects = self._supervisor.elections
        record.is_kopf = self._is_kopf
        output = self._supervisor.output()
        found = [*injector.deletions.violations, *map(self._secrets.hidden, panic_in(output))]
        record.violations = [*found, *self._secrets.leaked(self._view, output)]
        record.hidden = self._secrets.hidden

    @property
    def _is_kopf(self) -> bool:
        return any(agent.startswith(KOPF) for agent in self.gateway.agents)

    @property
    def _calm(self) -> float:
        usual = KOPF_CALM_SECONDS if self._is_kopf else CALM_SECONDS
        calm = self._setup.scenario.calm or usual
        self._record.calm = max(calm, LEAST_CALM * self._setup.origin.pace)
        return self._record.calm

    @property
    def _bound(self) -> float:
        bound = self._setup.scenario.bound or BOUND_SECONDS
        return max(bound, LEAST_BOUND * self._setup.origin.pace)

    async def _begin(self) -> None:
        """Wait until the program is at work."""
        pace, began, waited = self._setup.origin.pace, monotonic(), 0.0
        required, still = self._required(0), self._quiet.still
        while True:
            before = still.waited
            await self._quiet.look()
            # Who loads modules on a busy machine has not had its time yet.
            waited += 0.0 if self._quiet.is_busy else still.waited - before
            watches = self._quiet.open_watches()
            if watches and still.seconds > SETTLED_SECONDS * pace and required <= watches:
                break
            if waited > START_SECONDS * pace:
                raise self._never_works(bool(watches))
            if self._supervisor.ends and not watches and not self._record.token.faults:
                raise self._never_works(False)
        self._record.watches.append(watches)
        self._record.start_seconds = (monotonic() - began) / pace

    def _never_works(self, watched: bool) -> Exception:
        if self._record.token.faults:
            return NeverQuiet("the program does not open the watches that it had without faults")
        lives = self._supervisor.lives
        ended = next((life.code for life in lives if life.code is not None), None)
        if ended is not None:
            why = f"it ended with code {ended}"
        elif self.gateway.requests:
            watches = "never the same" if watched else "nothing"
            why = f"after {START_SECONDS:g} s it watches {watches}"
        else:
            why = "it has sent nothing: does it use {kubeconfig}?"
        printed = lives[-1].last_lines() if lives else ""
        by_hand = "run it by hand against `quintant up`, with the same words and KUBECONFIG"
        taken = "address already in use" in printed.lower()
        if self._setup.origin.pace > 1 and "timeout" in printed.lower():
            by_hand = "a smaller --pace: on a busy machine its time limits are over too soon"
        return ConfigError(
            f"cannot explore {' '.join(self._setup.command.words)}",
            because=f"{why}; it printed: {printed}",
            hint="--jobs 1, or {port:NAME} in its words" if taken else by_hand,
        )

    async def _step(self, number: int) -> bool:
        """Do a step, and wait for its end; whether to go on."""
        step = self._setup.scenario.steps[number]
        self._record.trace.tell(f"- {describe(step)}")
        self._quiet.begin()
        self._number = number
        await self._perform(number)
        last = self._last = number + 1 == len(self._setup.scenario.steps)
        await self._still(number, self._calm)
        while (stage := self._injector.stages.take(last=last)) is not None:
            await stage.act()
            self._quiet.last = monotonic()
            await self._still(number, self._calm)
        state = self._state()
        if self._recording is not None and not self._is_expected(number, state):
            # Who tries again after a minute has not had its time yet. It was calm before: what is
            # left of the world tells more than that somebody tries for ever.
            with suppress(NeverQuiet):
                await self._still(number, max(self._calm, KOPF_CALM_SECONDS), number)
            state = self._state()
        self._record.states.append(state)
        self._record.watches.append(self._quiet.open_watches())
        self._record.trace.steps += 1
        self._record.trace.tell(f"  quiet ({self._record.trace.steps})")
        return self._recording is None or self._is_expected(number, state)

    async def _perform(self, number: int) -> None:
        scenario = self._setup.scenario
        try:
            await self._user.perform(scenario.steps[number], scenario.manifests[number])
        except StepRefused as error:
            if not scenario.of_specs:
                raise
            self._record.refusals[number] = str(error)

    def _is_hurried(self) -> bool:
        """Whether something follows even if this step does not get quiet."""
        if self._recording is not None and self._number in self._recording.restless:
            return True
        return self._injector.stages.urgent(last=self._last)

    async def _still(self, number: int, calm: float, until: int | None = None) -> None:
        """Wait for quiet; with `until`, no longer than until that step is as it should be."""
        required = self._required(number + 1)
        if until is None:
            await self._quiet.wait(required, calm, self._bound)
            return
        waiting = asyncio.ensure_future(self._quiet.wait(required, calm, self._bound))
        try:
            while not waiting.done() and not self._is_expected(until, self._state()):
                await asyncio.wait({waiting}, timeout=LOOK_SECONDS * 10 * self._setup.origin.pace)
            if waiting.done():
                waiting.result()
        finally:
            waiting.cancel()

    def _required(self, number: int) -> frozenset[str]:
        if self._recording is None or number >= len(self._recording.watches):
            return frozenset()
        return self._recording.watches[number]

    def _state(self) -> Normalised:
        state = normalised(self._view, self._base, plain_document)
        if self._recording is None:
            self._record.raw.append(msgspec.json.decode(msgspec.json.encode(state)))
            return state
        scenario = self._setup.scenario
        made = comparable(state, self._record.names, scenario.ignore, history=not scenario.of_specs)
        return masked(made, self._recording.paths)

    def _is_expected(self, number: int, state: Normalised) -> bool:
        assert self._recording is not None, "there is something to compare with"
        expected = self._recording.states
        return number >= len(expected) or expected[number] in (None, state)

    def _wrote(self, verb: str, at: ResourcePath) -> None:
        self._written.add(subject_of(at))
        name = self._record.names.name(table_of(at), at.namespace, at.name)
        sub = f"/{at.sub}" if at.sub else ""
        self._quiet.wrote(f"{verb} {table_of(at)}{sub} {at.namespace}/{name}".rstrip("/"))

    def _is_concerned(self, title: str) -> bool:
        """Whether somebody else cares for an object: one of a user, or that the program wrote."""
        return title in self._written

    def _changed(self, table: Table, change: Change) -> None:
        self._injector.note_write(table.name, change.key, change.rv)
        if change.prev is None and change.cur is not None and table.name not in _BESIDE:
            meta = metadata(change.cur)
            self._record.names.note(table.name, meta.namespace, meta.name, made_stem(meta))
        if table.name == SECRETS and change.cur is not None:
            self._secrets.note(change.key, change.cur)
        if table.name in _BESIDE:
            return
        if self._server.is_by_program(table, change):
            self._written.add(f"{table.name} {change.key}")
            return
        self._quiet.changed()
