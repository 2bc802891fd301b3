"""Strikes at the chosen points, and numbers all of them on the way.

Every run passes here, the undisturbed one with no fault to make. A fault is made when its point is
reached, once. What has to follow when the world has become quiet (a restart, an end of blindness)
is a stage (explore.injection.stages).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from quintant.client.request_info import ResourcePath, resource_path
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.core.errors import ConnectError, DeadlineExceeded
from quintant.testing.explore.injection.crash_states import CrashStates, Left
from quintant.testing.explore.injection.deletions import Deletions
from quintant.testing.explore.injection.fault import (
    BY_OTHERS,
    EXPLANATIONS,
    MEMBER_MODES,
    STOPS,
    FaultMode,
    PlannedFault,
)
from quintant.testing.explore.injection.life_faults import LIMIT_SECONDS, LifeFaults, stop
from quintant.testing.explore.injection.members import MemberFaults
from quintant.testing.explore.injection.point_names import NUMBERED, PointNames
from quintant.testing.explore.injection.process import ManagerProcess, WatchedEvent
from quintant.testing.explore.injection.somebody_else import SomebodyElse, Target
from quintant.testing.explore.injection.stages import FaultStages, StageAct
from quintant.testing.explore.injection.subjects import subject_of, table_of, write_text
from quintant.testing.explore.injection.trace import Point, PointKind, Trace
from quintant.testing.explore.injection.watch_faults import (
    HeldObject,
    LaggingServer,
    OldView,
    WatchFaults,
)
from quintant.testing.explore.remote import RemoteModel, outlive
from quintant.testing.explore.simulation.objects import StoredWorld
from quintant.testing.faults.rule import status_answer

T = TypeVar("T")

# What a server that throttles asks for.
RETRY_AFTER_SECONDS = 1


class Injector:
    """Numbers points, and makes faults at those that were chosen."""

    def __init__(
        self,
        faults: Iterable[PlannedFault],
        trace: Trace,
        names: PointNames = NUMBERED,
    ) -> None:
        self._waiting = {each.point: each.mode for each in faults}
        self._names = names
        self.disturbs: bool = bool(self._waiting)
        """Whether this run has faults."""
        self._trace = trace
        self._watches = WatchFaults()
        self.stages: FaultStages = FaultStages(trace)
        """What follows when the world is quiet."""
        self.deletions: Deletions = Deletions(trace)
        """What processes have deleted."""
        self.answered: Counter[str] = Counter()
        """How often each call was carried out."""
        self.refused: set[str] = set()
        """Calls that were refused."""
        self.gone: str = ""
        """Who was deleted for good, by its table and key: the script ends with its step."""
        self._life = LifeFaults(trace, self._struck, self._strike_member)
        self.calls: set[asyncio.Task[Any]] = set()
        """Calls of remotes that go on."""
        self.crashes: CrashStates = CrashStates(lambda: None)
        """What crashes would leave; it is known of the run without faults alone."""

    def attach(
        self,
        server: StoredWorld,
        somebody: SomebodyElse,
        crash: Callable[[int], None],
        members: MemberFaults | None = None,
        left: Left = lambda: None,
    ) -> None:
        """Know the world: its server, who else acts in it, and how a program is killed.

        `members` has what can happen to those of a program that is sharded; `left` tells what there
        is beside the processes.
        """
        if not self.disturbs:
            self.crashes = CrashStates(left)
        self._server, self._somebody, self._crash = server, somebody, crash
        self._oldest = server.store.revision
        self._members = members

    @property
    def unreached(self) -> list[str]:
        """The points that were chosen and never came."""
        return list(self._waiting)

    @property
    def holds(self) -> bool:
        """Whether watches are held back now."""
        return self._watches.blind or self._watches.held is not None

    def note_write(self, table: str, key: str, revision: int) -> None:
        """The store has changed."""
        if self._watches.note_write(table, key, revision):
            asyncio.get_running_loop().call_soon(self._cut)

    # On the way of requests.

    async def write(self, process: ManagerProcess, call: ApiRequest) -> ApiResponse:
        """A write to the API."""
        at = self._names.written(call, resource_path(call.path))
        subject, name = subject_of(at), self._names.of_write(call, at)
        point = self._trace.point(PointKind.WRITE, write_text(call, at), subject=subject, name=name)
        self.crashes.before(point, process)
        mode = self._struck(point)
        if mode is FaultMode.PARENT_GONE:
            await self._delete_for_good(self._somebody.parent(subject))
        elif mode in BY_OTHERS:
            await self._interfere(mode, subject)
        elif mode in MEMBER_MODES:
            await self._strike_member(mode, point, process)
        elif mode in STOPS:
            stop(mode, process, point.index)
        elif mode is FaultMode.HAND_OVER:
            process.cut_off()
            await process.reachable()
        elif mode is not None:
            return await self._disturbed(mode, process, call)
        reply = await self._passed_on(point, process, call)
        self.deletions.note(process, call, subject, reply, blind=self._watches.blind)
        return reply

    async def _passed_on(
        self, point: Point, process: ManagerProcess, call: ApiRequest
    ) -> ApiResponse:
        with self.crashes.on_its_way():
            reply = await process.inner.request(call)
        self.crashes.after(point, process)
        return reply

    async def step(self, process: ManagerProcess, call: ApiRequest) -> None:
        """What a process reads while it starts."""
        await self._life.step(process, call, self.crashes)

    async def renewal(
        self, process: ManagerProcess, call: ApiRequest, answer: Callable[[], ApiResponse]
    ) -> ApiResponse:
        """A leader renews its lease."""
        return await self._life.renewal(process, call, answer)

    async def lease_write(self, process: ManagerProcess, call: ApiRequest) -> ApiResponse:
        """What a member of a sharded manager writes to Leases."""
        at = resource_path(call.path)
        text, subject = write_text(call, at), subject_of(at)
        point = self._trace.point(PointKind.MEMBER, text, subject=subject)
        self.crashes.before(point, process)
        mode = self._struck(point)
        if mode in MEMBER_MODES:
            await self._strike_member(mode, point, process)
        elif mode is not None:
            return await self._disturbed(mode, process, call)
        return await self._passed_on(point, process, call)

    async def _strike_member(self, mode: FaultMode, point: Point, process: ManagerProcess) -> None:
        if self._members is None:
            return
        follows = await self._members.strike(mode, process, point.index)
        if follows is not None:
            self.stages.add(point.step, follows, urgent=False)
        process.check()
        await process.reachable()

    async def _disturbed(
        self, mode: FaultMode, process: ManagerProcess, call: ApiRequest
    ) -> ApiResponse:
        if mode is FaultMode.CRASH_BEFORE:
            process.kill()
        elif mode is FaultMode.TIMEOUT:
            await asyncio.sleep(call.timeout or LIMIT_SECONDS)
            raise DeadlineExceeded(f"{call}: no answer in time (injected)")
        elif mode not in (FaultMode.CRASH_AFTER, FaultMode.LOST):
            pause = RETRY_AFTER_SECONDS if mode is FaultMode.THROTTLED else None
            return status_answer(int(mode), "injected", pause)
        process.check()
        reply = await process.inner.request(call)
        if mode is FaultMode.LOST:
            raise ConnectError(f"{call}: the answer was lost (injected)")
        process.kill()
        return reply

    async def call(
        self,
        process: ManagerProcess,
        model: RemoteModel,
        text: str,
        work: Callable[[], Coroutine[Any, Any, T]],
    ) -> T:
        """A call of a remote."""
        point = self._trace.point(PointKind.CALL, text, remote=model.name)
        self.crashes.before(point, process)
        mode = self._struck(point)
        if mode is None:
            self.answered[text] += 1
            with self.crashes.on_its_way():
                answer = await outlive(work(), self.calls)
            self.crashes.after(point, process)
            return answer
        if mode is FaultMode.CRASH_BEFORE:
            process.kill()
            process.check()
        if mode not in (FaultMode.CRASH_AFTER, FaultMode.LOST, FaultMode.PARENT_GONE):
            self.refused.add(text)
            raise model.failure(mode)
        self.answered[text] += 1
        answer = await outlive(work(), self.calls)
        if mode is FaultMode.LOST:
            raise model.failure(mode)
        process.kill()
        if mode is FaultMode.PARENT_GONE:
            await self._delete_for_good(self._somebody.whom_a_call_is_for())
        return answer

    def read(self, process: ManagerProcess, call: ApiRequest) -> ApiRequest:
        """A read on its way to the server."""
        return self._watches.read(process, call)

    def refusal(self, process: ManagerProcess, call: ApiRequest) -> ApiResponse | None:
        """The answer to a watch that does not reach the server."""
        return self._watches.refusal(process, call)

    def saw(self, process: ManagerProcess, answer: bytes) -> None:
        """A process is about to read something."""
        self.deletions.saw(process, answer)

    async def deliver(self, process: ManagerProcess, at: ResourcePath, event: WatchedEvent) -> None:
        """An event on its way to a cache."""
        meta, table = event.object.metadata, table_of(at)
        revision, name = int(meta.resource_version), self._names.of_event(at, event)
        if name is None:
            await self._watches.pass_on(process, at, event)
            return
        point = self._trace.point(
            PointKind.EVENT,
            f"{event.type} {table} {meta.key}",
            subject=f"{table} {meta.key}",
            revision=revision,
            name=name,
        )
        match self._struck(point):
            case FaultMode.STALE if not self._watches.blind:
                self._begin_old(process, table, revision - 1)
                self.stages.add(point.step, self._restarting(process.index))
                self.stages.add(point.step, self._release)
            case FaultMode.LAG if not self._watches.blind:
                self._watches.lagging = LaggingServer(
                    process.index, lambda: self._server.store.revision, self._oldest
                )
                self.stages.add(point.step, self._catch_up)
            case FaultMode.REWIND:
                self.stages.add(point.step + 1, self._rewinding(process, table, revision - 1))
                self.stages.add(point.step + 1, self._release)
            case FaultMode.UNOBSERVED if self._watches.held is None:
                self._watches.held = HeldObject(process.index, table, meta.key, revision)
                self.stages.add(point.step, self._cut_late)
        await self._watches.pass_on(process, at, event)

    # What follows.

    def _begin_old(self, process: ManagerProcess, table: str, revision: int) -> None:
        self._watches.old = OldView(process.index, table, revision)

    def _restarting(self, program: int) -> StageAct:
        async def restart() -> None:
            self._trace.tell("! the process is killed, and starts from the old list")
            self._crash(program)

        return restart

    def _rewinding(self, process: ManagerProcess, table: str, revision: int) -> StageAct:
        async def rewind() -> None:
            await self._release()
            self._begin_old(process, table, revision)
            await self._restarting(process.index)()

        return rewind

    async def _catch_up(self) -> None:
        if self._watches.lagging is not None:
            self._trace.tell("! the second server has caught up")
            self._watches.lagging.catch_up()

    async def _release(self) -> None:
        if self._watches.blind and self._watches.old is not None:
            self._trace.tell("! the watches go on")
            self._watches.old.released.set()

    async def _cut_late(self) -> None:
        self._cut()

    def _cut(self) -> None:
        held, self._watches.held = self._watches.held, None
        if held is not None:
            self._trace.tell(f"! the watches of {held.table} are cut, and the history compacted")
            self._server.compact()
            held.cut.set()

    async def _interfere(self, mode: FaultMode, subject: str) -> None:
        of_child = mode in BY_OTHERS[:3]
        target = self._somebody.child(subject) if of_child else self._somebody.parent(subject)
        if target is None:
            self._trace.tell("! there is nothing to interfere with")
            return
        self._trace.tell(f"! somebody else: {mode} {target}")
        match mode:
            case FaultMode.CHILD_EDITED:
                await self._somebody.edit_child(target)
            case FaultMode.PARENT_EDITED:
                await self._somebody.edit_parent(target)
            case FaultMode.CHILD_DELETED:
                await self._somebody.delete(target)
            case FaultMode.CHILD_RECREATED:
                await self._recreate(target)
            case FaultMode.PARENT_DELETED:
                await self._somebody.delete(target)
                # Not before its finalizers have run: the name is taken until then.
                self.stages.add(self._trace.steps, self._restoring(target), urgent=False)

    async def delete_calmly(self, title: str) -> None:
        """Delete an object in the calm: what a run is compared with in which that came earlier."""
        target = self._somebody.titled(title)
        if target is not None:
            await self._somebody.delete(target)

    async def _delete_for_good(self, target: Target | None) -> None:
        if target is None:
            self._trace.tell("! there is nothing to interfere with")
            return
        self._trace.tell(f"! somebody deletes {target}, for good")
        self.gone = target.title
        await self._somebody.delete(target)

    async def _recreate(self, target: Target) -> None:
        await self._somebody.delete(target)
        uid = await self._somebody.create(target)
        if uid:
            self.deletions.made_anew(target.title, uid)

    def _restoring(self, target: Target) -> StageAct:
        async def restore() -> None:
            self._trace.tell(f"! somebody makes {target} anew")
            await self._somebody.create(target.as_by_user())

        return restore

    def _struck(self, point: Point) -> FaultMode | None:
        mode = self._waiting.pop(point.key, None)
        if mode is not None:
            explanation = EXPLANATIONS[mode]
            self._trace.tell(f"! {mode} at {point.key}: {explanation}")
        return mode
