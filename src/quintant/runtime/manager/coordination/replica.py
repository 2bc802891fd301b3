"""A replica that works alone: what others do in addition is in the modules beside this one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from quintant.client.fence import Fence, write_query
from quintant.client.token_bucket import TokenBucket
from quintant.client.transport import Transport
from quintant.runtime.cache.caches import Caches
from quintant.runtime.controller.controller import Controller
from quintant.runtime.controller.ownership import KeyOwnerships
from quintant.runtime.manager.health import HealthChecks
from quintant.runtime.manager.probes import BoundPage

if TYPE_CHECKING:
    from quintant.runtime.leader.elector import Elector
    from quintant.runtime.shard.coordinator import Coordinator
    from quintant.runtime.shard.owned_ranges import OwnedRanges


class Coordination:
    """Every write is allowed, every key is ours, and work begins at once."""

    elector: Elector | None = None
    coordinator: Coordinator | None = None
    """Of its ranges, once it was bound."""
    fence: Fence | None = None
    """Refuses a write that may meet another replica's."""
    owned: OwnedRanges | None = None
    """The part of the objects that is kept; None: all of them."""
    write_seconds: float | None = None
    """After which a write is given up, by us and by the server; None: none is."""
    json_pages: Mapping[str, BoundPage] = MappingProxyType({})
    """What it shows beside metrics, by word, once it was bound."""
    lease_left: Callable[[], float] | None = None
    """Seconds until the lease is in doubt."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        """What requests leave by."""

    @property
    def write_query(self) -> dict[str, str]:
        """What every write says of its time limit."""
        return write_query(self.write_seconds) if self.write_seconds is not None else {}

    @property
    def ownerships(self) -> KeyOwnerships | None:
        """Whose the keys are; None: all of them are this replica's."""
        return self.owned

    def bind(
        self, controllers: Sequence[Controller[Any]], caches: Caches, bucket: TokenBucket | None
    ) -> None:
        """Have the controllers of this replica follow what it may work on."""

    def declare_checks(self, health: HealthChecks) -> None:
        """Add what is to be seen of it on the probes."""

    async def run(self) -> None:
        """Compete, or take part, until cancelled."""

    def set_ready(self) -> None:
        """Note that the caches are complete."""

    async def wait_elected(self) -> None:
        """Return once controllers may begin."""

    async def run_on_leader(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run what only one replica does, whenever it is this one."""
        await self.wait_elected()
        await work()

    def set_leaving(self) -> None:
        """Note that this replica stops: it takes nothing more."""

    async def leave(self, running: asyncio.Task[Any]) -> None:
        """End `run`, and give back what is held. Controllers have ended."""
        await cancelled(running)


async def cancelled(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel tasks and wait for them."""
    going = [task for task in tasks if task is not None]
    for task in going:
        task.cancel()
    if going:
        await asyncio.wait(going)
