"""What can happen at the edges of a process's life: in its start, on its way out, to its lease.

start    every list and watch that it needs before it is at work
end      it is stopped in order, as in a roll-out, and may be killed before it is through
renewal  the first of a leader after any other point: its lease is as good as its last answer
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from quintant.client.request_info import resource_path, verb_of
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.core.errors import ConnectError, DeadlineExceeded
from quintant.testing.explore.injection.crash_states import CrashStates
from quintant.testing.explore.injection.fault import FaultMode
from quintant.testing.explore.injection.in_process_manager import InProcessManager
from quintant.testing.explore.injection.process import ManagerProcess
from quintant.testing.explore.injection.subjects import table_of
from quintant.testing.explore.injection.trace import Point, PointKind, Trace

LIMIT_SECONDS = 60.0
"""What a request may take if it has no limit of its own, as over the network."""
LATE_SECONDS = 1.0
"""How long after its sender's patience a renewal arrives that is late."""
MOST_LAST_REQUESTS = 3
"""A process sends no more than so many requests while it stops, as a rule."""

Strike = Callable[[FaultMode, Point, ManagerProcess], Awaitable[None]]


class LifeFaults:
    """Numbers these points, and makes the faults at them."""

    def __init__(
        self, trace: Trace, struck: Callable[[Point], FaultMode | None], strike: Strike
    ) -> None:
        """`struck` says what was chosen for a point; `strike` has a process stand still."""
        self._trace, self._struck, self._strike = trace, struck, strike
        self._renewed_at = 0
        """How many points there were when a lease was last renewed."""

    async def step(self, process: ManagerProcess, call: ApiRequest, crashes: CrashStates) -> None:
        """What a process reads while it starts."""
        table = table_of(resource_path(call.path))
        point = self._trace.point(PointKind.START, f"{verb_of(call)} {table}", subject=table)
        crashes.before(point, process)
        match self._struck(point):
            case FaultMode.CRASH_BEFORE:
                process.kill()
                process.check()
            case FaultMode.LOST:
                raise ConnectError(f"{call}: the answer was lost (injected)")

    async def renewal(
        self, process: ManagerProcess, call: ApiRequest, answer: Callable[[], ApiResponse]
    ) -> ApiResponse:
        """A leader renews its lease: a point if there was another one since the last time."""
        if self._trace.moments == self._renewed_at:
            return answer()
        self._renewed_at = self._trace.moments
        point = self._trace.point(PointKind.RENEWAL, "renew the lease", subject="leases")
        match mode := self._struck(point):
            case FaultMode.LATE:
                waits = call.timeout or LIMIT_SECONDS
                asyncio.get_running_loop().call_later(waits + LATE_SECONDS, answer)
                await asyncio.sleep(waits)
                raise DeadlineExceeded(f"{call}: no answer in time (injected)")
            case FaultMode.LOST:
                answer()
                raise ConnectError(f"{call}: the answer was lost (injected)")
        reply = answer()
        if mode is FaultMode.EXPIRED:
            await self._strike(mode, point, process)
        return reply


def stop(mode: FaultMode, process: ManagerProcess, index: int) -> None:
    """Have a process stop in order; the requests before which it is killed take turns."""
    assert isinstance(process, InProcessManager), "programs are stopped by signals"
    process.stopping = True
    if mode is FaultMode.STOP_CRASH:
        process.requests_left = index % MOST_LAST_REQUESTS
    process.ending.set()
