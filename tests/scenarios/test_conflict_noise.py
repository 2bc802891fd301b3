"""Somebody else edits the same object, and the log fills with errors that are none.

A conflict means that another writer was faster: the next try sees what they wrote. It is counted,
and it is no incident.
"""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from quintant import Context, Manager, Reconciler
from quintant.api.core import ConfigMap
from quintant.core.object import replace
from quintant.testing import InProcessCluster, named, watch, writes
from scenarios.greeter import Greeter, greeter
from scenarios.metrics_and_probes import sample

FLIP_SECONDS = 0.01
FLIPS = 1000
# A write and its echo take half as long as the editor needs for the next one.
LATENCY_SECONDS = FLIP_SECONDS / 2
LOUD = {"error", "critical"}


async def mirror(obj: Greeter, ctx: Context[Greeter]) -> None:
    """Copy the label `side` into the label `seen`, on top of the version that was read."""
    side = obj.metadata.labels.get("side", "")
    meta = replace(obj.metadata, labels={**obj.metadata.labels, "seen": side})
    await ctx.client.patch(replace(obj, metadata=meta), since=obj)


async def mirror_beside(obj: Greeter, ctx: Context[Greeter]) -> None:
    """The same, with another write at the same time."""
    other = ConfigMap(metadata=named("other"), data=obj.metadata.labels)
    async with asyncio.TaskGroup() as group:
        group.create_task(mirror(obj, ctx))
        group.create_task(ctx.apply(other))


async def flip(cluster: InProcessCluster) -> None:
    """Edit a label again and again, as another controller would."""
    for turn in range(FLIPS):
        obj = await cluster.get(Greeter, "a")
        labels = {**obj.metadata.labels, "side": "left" if turn % 2 else "right"}
        edited = replace(obj, metadata=replace(obj.metadata, labels=labels))
        await cluster.client.patch(edited, since=obj)
        await cluster.advance(FLIP_SECONDS)


@pytest.mark.parametrize("reconcile", [mirror, mirror_beside])
async def test_edits_of_others_are_met_with_calm_and_counted(
    cluster: InProcessCluster, reconcile: Reconciler[Greeter]
) -> None:
    manager = Manager("greeter")
    manager.controls(Greeter).reconcile(reconcile)
    engine = await cluster.run(manager)
    cluster.faults.delay(LATENCY_SECONDS, writes)
    cluster.faults.lag(LATENCY_SECONDS, watch(Greeter))
    await cluster.create(greeter("a"))
    with capture_logs() as lines:
        await flip(cluster)
        await cluster.advance(1)

    labels = (await cluster.get(Greeter, "a")).metadata.labels
    assert labels == {"side": "left", "seen": "left"}
    assert not LOUD & {line["log_level"] for line in lines}
    assert sample(engine, "quintant_conflicts_total", controller="greeter") > FLIPS / 10
    assert sample(engine, "controller_runtime_reconcile_errors_total", controller="greeter") == 0
