"""What can happen to a member of a sharded manager, and whether its ranges are at work.

What a member says of itself and the map in Leases is a point, too; that it renews them is none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextvars import copy_context
from functools import partial
from typing import Protocol

from quintant.client.rest import Rest
from quintant.client.transport import Transport
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.manager.engine import Engine
from quintant.runtime.shard.range_states import RangeState
from quintant.testing.explore.injection.fault import FaultMode
from quintant.testing.explore.injection.in_process_manager import InProcessManager
from quintant.testing.explore.injection.process import ManagerProcess
from quintant.testing.explore.injection.stages import StageAct
from quintant.testing.explore.injection.trace import Trace
from quintant.testing.pausable_loop import PausableLoop

PAUSE_SECONDS = 20.0
"""Longer than a member may be silent: others bury it, and it does not know."""
SKEW_SECONDS = 3600.0
AWAY_SECONDS = 60.0
"""For so long a member that crashed is missed: it is buried, and its ranges are others'."""


class MemberStarter(Protocol):
    """Who starts processes."""

    def join(self, program: int) -> None:
        """Start one more process of a program, for good."""


class MemberFaults:
    """What can happen to members."""

    def __init__(self, starter: MemberStarter, admin: Transport, trace: Trace) -> None:
        self._starter, self._admin, self._trace = starter, admin, trace
        self._outside = copy_context()
        """Where it is looked at the clock: a process that is paused does not end its pause."""

    async def strike(self, mode: FaultMode, process: ManagerProcess, index: int) -> StageAct | None:
        """Have it happen to the member that is about to write; what is to follow in the calm.

        `index` is that of its write: every second clock jumps back.
        """
        assert isinstance(process, InProcessManager), "members are managers of ours"
        match mode:
            case FaultMode.JOIN:
                self._starter.join(process.index)
            case FaultMode.TWO_JOINS:
                self._starter.join(process.index)
                self._starter.join(process.index)
            case FaultMode.LEAVE:
                process.stopping = True
                process.ending.set()
            case FaultMode.MEMBER_CRASH:
                process.away = AWAY_SECONDS
                process.kill()
            case FaultMode.PARTITION:
                process.cut_off()
                return partial(self._heal, process)
            case FaultMode.MAP_DELETED:
                await self._delete_map(process)
            case FaultMode.PAUSE | FaultMode.EXPIRED:
                await self._pause(process)
            case FaultMode.SKEW:
                process.clock.ahead = -SKEW_SECONDS if index % 2 else SKEW_SECONDS
        return None

    async def _pause(self, process: InProcessManager) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, PausableLoop), "a run that pauses has such a loop"
        loop.call_later(PAUSE_SECONDS, _resume, loop, process, context=self._outside)
        process.paused = True
        loop.pause(process)
        await asyncio.sleep(0)  # held back, as all that the process does
        self._trace.tell("! the process goes on")

    async def _heal(self, process: InProcessManager) -> None:
        self._trace.tell("! the member is reached again")
        process.reconnect()

    async def _delete_map(self, process: InProcessManager) -> None:
        engine = process.engine
        if engine is None or engine.coordinator is None:
            self._trace.tell("! there is no shard map")
            return
        settings = engine.settings
        namespace = settings.lease_namespace or engine.environment.namespace
        leases = LeaseClient(Rest(self._admin), namespace)
        if (found := await leases.read(settings.name)) is not None:
            await leases.delete(found)


def _resume(loop: PausableLoop, process: InProcessManager) -> None:
    process.paused = False
    loop.resume(process)


def unserved(engines: Sequence[Engine]) -> bool:
    """Whether these members of one group leave a range without work; False if they are none."""
    groups = [engine.coordinator for engine in engines if engine.coordinator is not None]
    held = {number for each in groups for number in each.owned.within((RangeState.HELD,))}
    return any(len(held) < each.group.ranges + 1 for each in groups)
