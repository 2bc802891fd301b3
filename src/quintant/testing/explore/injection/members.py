"""What can happen to a member of a sharded manager, and whether its ranges are at work.

Leases are no points: members renew them all the time. What happens to them happens at writes of the
manager, which is where it could do harm.
"""

from __future__ import annotations

from collections.abc import Sequence
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

    async def strike(self, mode: FaultMode, process: ManagerProcess) -> StageAct | None:
        """Have it happen to the member that is about to write; what is to follow in the calm."""
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
        return None

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


def unserved(engines: Sequence[Engine]) -> bool:
    """Whether these members of one group leave a range without work; False if they are none."""
    groups = [engine.coordinator for engine in engines if engine.coordinator is not None]
    held = {number for each in groups for number in each.owned.within((RangeState.HELD,))}
    return any(len(held) < each.group.ranges + 1 for each in groups)
