"""What the work in every cluster has in common: one process, its settings, clocks and fence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from quintant.client.fence import Fence
from quintant.core.clock import Boottime, Clock, Random
from quintant.runtime.controller.ownership import KeyOwnerships
from quintant.runtime.observe.tracing import Tracer
from quintant.runtime.reconcile.blocking_calls import BlockingCalls
from quintant.runtime.settings import Settings

if TYPE_CHECKING:  # loaded by managers that are sharded
    from quintant.runtime.cache.partial.keep_rules import Partition


class ProcessParts(Struct, frozen=True):
    """One process of a manager, whichever clusters it works in."""

    settings: Settings
    clock: Clock
    random: Random
    boottime: Boottime
    tracer: Tracer | None
    blocking: BlockingCalls
    instance: str
    """What it is called among its replicas, in events."""
    elected: Callable[[], Awaitable[None]]
    """Returns once this process may work."""
    fence: Fence | None = None
    """Of its leadership, or of its ranges: what every write passes, into whichever cluster."""
    write_seconds: float | None = None
    """What a write may take, so that it ends before another process may lead."""
    lease_left: Callable[[], float] | None = None
    """Seconds until the lease is in doubt; None where there is none."""
    partition: Partition | None = None
    """Which keys are ours, where every replica works; None: all of them."""
    ownerships: KeyOwnerships | None = None
    """The same, for those who work on keys."""
