"""When nothing is left to be done, of a program in real time.

All is quiet when the program runs, every watch that the recording had is open again and has passed
on everything, nothing is in flight, and for `calm` seconds nobody has written: counted from the
step itself, for who has not reacted yet is not quiet. Writes that the undisturbed run makes at rest
as well do not count. A watch that is missing is waited for 90 seconds long, and no longer: what is
left of the world shows whether it was needed. On a busy machine it takes longer:
time in which nobody could look is no calm (`foreign.calm`), and who waits for a processor is busy.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from quintant.core.clock import monotonic
from quintant.testing.explore.foreign.calm import Calm
from quintant.testing.explore.foreign.gateway import Gateway
from quintant.testing.explore.foreign.supervisor import ProgramSupervisor
from quintant.testing.explore.simulation.quiescence import NeverQuiet

LOOK_SECONDS = 0.03
"""Real seconds between two looks."""
BUSY = 0.4
"""Which part of the last looks has to meet a program at work for it to be busy: with its clock so
fast, it is at work at some of them at rest as well."""
SMOOTHING = 0.15
"""How much the last look counts for that."""
MOST_BUSY_SECONDS = 10.0
"""Of a processor, after which who is busy and writes nothing is one that always is."""
HURRIED_SECONDS = 3.0
"""Real seconds beyond the calm: who works by an old view may never get quiet."""
POLLS = 5
"""A write that was made so often in one step of an undisturbed run may be one that goes on at
rest."""
LATE_WATCH_SECONDS = 90.0
"""After which a watch that is missing is not waited for any more."""
SHOWN = 3


@dataclass(slots=True)
class ForeignQuiet:
    """Knows when a world is quiet."""

    gateway: Gateway
    supervisor: ProgramSupervisor
    pace: float
    holds: Callable[[], bool] = lambda: False
    """Whether watches are held back on purpose: they need not be up to date."""
    hurried: Callable[[], bool] = lambda: False
    """Whether something is to follow even if it does not get quiet."""
    polls: frozenset[str] = frozenset()
    """Writes that go on at rest."""
    recording: bool = False
    """Whether such writes are to be found out."""
    writes: Counter[str] = field(default_factory=Counter)
    """Of this step, by what they do."""
    repeated: set[str] = field(default_factory=set)
    """What was found to go on at rest."""
    last: float = 0.0
    """When somebody wrote last."""
    busy: float = 0.0
    """How much of its time the program has been at work lately."""
    worked: float = 0.0
    """When it was busy last."""
    still: Calm = field(init=False)
    """For how long nothing has happened."""
    _often: dict[str, float] = field(default_factory=dict)
    """When what may go on at rest was written last."""
    _counted_from: float = -1.0
    _used_before: float = 0.0
    """Seconds of processors that the program had had when something happened last."""
    _used: float = 0.0
    """And those at the last look."""

    def __post_init__(self) -> None:
        self.still = Calm(LOOK_SECONDS * self.pace)

    def wrote(self, name: str) -> None:
        """The program has written something."""
        self.writes[name] += 1
        if name in self.polls or name in self.repeated:
            return
        if self.recording and self.writes[name] > POLLS:
            # It goes on at rest only if all is calm but for such as this.
            self._often[name] = monotonic()
            return
        self.last = monotonic()

    def changed(self) -> None:
        """Somebody else has."""
        self.last = monotonic()

    def begin(self) -> None:
        """A step begins."""
        self.writes.clear()
        self._often.clear()
        self.gateway.refusals.clear()
        self.last = monotonic()

    async def wait(self, required: frozenset[str], calm: float, bound: float) -> None:
        """Wait until all is quiet; NeverQuiet after `bound` seconds."""
        self.still.waited = 0.0
        while not self._is_quiet(required, calm):
            if self.hurried() and self.still.waited > calm + HURRIED_SECONDS * self.pace:
                return
            if self.still.waited > bound:
                raise NeverQuiet(self._reason(self._unrest(required), bound))
            await self.look()
        self.repeated |= self._going_on(calm)

    async def look(self) -> None:
        """Wait until the next look, and see what the program does."""
        before = monotonic()
        await asyncio.sleep(LOOK_SECONDS * self.pace)
        starved = self._see_work()
        self.still.look(monotonic() - before, self._idle(), starved=starved)

    @property
    def is_busy(self) -> bool:
        """Whether the program was at work when it was looked at last."""
        return self.busy > BUSY and self._used - self._used_before < MOST_BUSY_SECONDS

    def _is_quiet(self, required: frozenset[str], calm: float) -> bool:
        still = min(self.still.seconds, self._idle())
        if max(still, self.still.waited) >= max(calm, LATE_WATCH_SECONDS):
            # Who opens a watch when it first asks for something may not have to ask again.
            required = frozenset()
        # Who writes so often may come to its end a little after the others.
        needed = 2 * calm if self._going_on(calm) else calm
        return still >= needed and not self._unrest(required)

    def _going_on(self, calm: float) -> set[str]:
        """What was written over and over, and lately."""
        return {name for name, at in self._often.items() if monotonic() - at < calm}

    def _see_work(self) -> bool:
        """See whether the program is at work, though it writes nothing; whether it only waits to
        be."""
        working = self.supervisor.working
        runnable = any(life.is_runnable for life in working)
        self.busy += (runnable - self.busy) * SMOOTHING
        acted, used = self._acted(), sum(life.processor_seconds for life in working)
        starved = runnable and used == self._used
        if acted != self._counted_from:
            self._counted_from, self._used_before = acted, used
        self._used = used
        if self.is_busy:
            self.worked = monotonic()
        return starved

    def open_watches(self) -> frozenset[str]:
        """What is watched now by who works."""
        watches = self.gateway.watches
        return frozenset(each.signature for each in watches if each.life.working)

    def _idle(self) -> float:
        """How long ago somebody did something, by the clock."""
        return monotonic() - max(self._acted(), self.worked)

    def _acted(self) -> float:
        """The last moment at which somebody did something, or began to look."""
        return max(self.last, self.supervisor.started, *self.gateway.opened.values())

    def _unrest(self, required: frozenset[str]) -> str:
        """Why it is not quiet whatever the time; empty if it may be."""
        working = self.supervisor.working
        if not working:
            return "the program does not run"
        if missing := required - self.open_watches():
            return f"the watch of {min(missing)} is not open"
        if any(life.in_flight for life in working):
            return "a request is in flight"
        if self.holds():
            return ""
        late = [each for each in self.gateway.watches if each.life.working and not each.idle]
        return f"the watch of {late[0].signature} is behind" if late else ""

    def _reason(self, unrest: str, bound: float) -> str:
        often = [f"{name} ({count} times)" for name, count in self.writes.most_common(SHOWN)]
        refused = [f"{each} ({n} times)" for each, n in self.gateway.refusals.most_common(1)]
        doing = "; ".join([*filter(None, [unrest]), *often, *refused])
        return f"not quiet after {bound:g} s of its clock: {doing or 'somebody writes'}"
