"""The operator on Quintant, as a user would write it: apply the child, set the status."""

from __future__ import annotations

import os

from benchmarks.operators.kind import Greeter, GreeterStatus
from quintant import Context, Manager, ObjectMeta, owned
from quintant.api.core import ConfigMap


async def reconcile(greeter: Greeter, ctx: Context[Greeter]) -> None:
    """Apply the child, then say so."""
    child = ConfigMap(metadata=ObjectMeta.like(greeter), data={"text": greeter.spec.message})
    await ctx.apply(owned(child, by=greeter))
    await ctx.set_status(GreeterStatus(greeted=True))


def declare() -> Manager:
    """The manager, with every server of a production process."""
    shards = "BENCH_SHARDS" in os.environ
    manager = Manager("greeter", shards=shards, metrics="127.0.0.1:0", probes="127.0.0.1:0")
    workers = int(os.environ["BENCH_WORKERS"])
    manager.controls(Greeter).owns(ConfigMap).workers(workers).reconcile(reconcile)
    return manager


if __name__ == "__main__":
    declare().run()
