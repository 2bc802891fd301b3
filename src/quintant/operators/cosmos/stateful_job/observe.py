"""What a StatefulJob depends on, read from the caches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from quintant.api.batch import Job
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.object import Object, Request
from quintant.core.owner import controller_of
from quintant.operators.cosmos.api.stateful_job import StatefulJob
from quintant.operators.cosmos.stateful_job.observed import JobView
from quintant.runtime.apply import controlled
from quintant.runtime.cache.client import Client

NAMESPACE_INDEX = "namespace"
"""The index of StatefulJobs by their namespace."""


async def observe(owner: StatefulJob, client: Client, now: datetime) -> JobView:
    """Read everything about a StatefulJob."""
    key, served = owner.key, client.is_served(VolumeSnapshot)
    job = await client.find(Job, *key)
    claim = await client.find(PersistentVolumeClaim, *key)
    if claim is None and job is None:
        # A claim of another owner carries no label of ours, and no cache holds it.
        claim = await client.find(PersistentVolumeClaim, *key, live=True)
    copies = await client.list(VolumeSnapshot, key.namespace) if served else ()
    foreign = [_named(each) for each in (job, claim) if each and not controlled(each, owner)]
    return JobView(owner, served, job, claim, tuple(copies), ", ".join(foreign), now)


def _named(obj: Object) -> str:
    return f"{type(obj).__name__} {obj.metadata.name}"


def owner_of(child: Object) -> Sequence[Request]:
    """The StatefulJob of a job or a volume."""
    held = controller_of(child)
    if held is None or held.kind != StatefulJob.__name__:
        return ()
    return (Request(held.name, child.metadata.namespace),)


def namespace_of(owner: StatefulJob) -> Iterable[str]:
    """Where the index files a StatefulJob."""
    return (owner.metadata.namespace,)


def snapshot_namespace(snapshot: VolumeSnapshot) -> Iterable[str]:
    """Where the index has the StatefulJobs that a copy may concern."""
    return (snapshot.metadata.namespace,)


def snapshot_aspects(snapshot: VolumeSnapshot) -> object:
    """What of a copy matters here."""
    return snapshot.status.ready_to_use if snapshot.status else None
