"""Greeters on a sharded manager: computed on for 10 ms each, and nothing written."""

from __future__ import annotations

from time import thread_time

from benchmarks.operators.kind import Greeter
from quintant import Context, Manager

COMPUTED_SECONDS = 0.01


async def reconcile(greeter: Greeter, ctx: Context[Greeter]) -> None:
    """Use the processor for a while."""
    until = thread_time() + COMPUTED_SECONDS
    while thread_time() < until:
        pass


manager = Manager("computing", shards=True)
manager.controls(Greeter).reconcile(reconcile)
