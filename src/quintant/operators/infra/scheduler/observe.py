"""What the scheduler reads: who waits for a cloud, and which clouds there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from quintant.operators.infra.api import AnyCloud, Cloud, Cluster, ClusterStatus, GlobalCloud
from quintant.operators.infra.observe.keys import cloud_keys
from quintant.operators.infra.plan.status import held
from quintant.operators.infra.scheduler.observed import Candidates
from quintant.runtime.cache.client import Client
from quintant.runtime.source import predicates

UNSCHEDULED_INDEX = "unscheduled"
EVERYWHERE = "*"


def waits(cluster: Cluster) -> bool:
    """Whether a Cluster waits for a cloud; one that nothing holds yet is not bound."""
    status = cluster.status or ClusterStatus()
    bound = status.scheduled_to is not None or status.running_on is not None
    return held(cluster) and not bound and not cluster.deleting


CHANGED = predicates.generation | predicates.changed(waits)


def unscheduled(cluster: Cluster) -> Iterable[str]:
    """Where the index files a Cluster that waits."""
    return (cluster.metadata.namespace, EVERYWHERE) if waits(cluster) else ()


def affected(cloud: AnyCloud) -> Iterable[str]:
    """Where the index has those whom a change of a cloud may concern."""
    return (cloud.metadata.namespace or EVERYWHERE,)


async def candidates(client: Client, namespace: str) -> Candidates:
    """The clouds for Clusters of a namespace."""
    clusters = await client.list(Cluster)
    return Candidates(
        own=await client.list(Cloud, namespace),
        everybodys=await client.list(GlobalCloud),
        bound=Counter(key for each in clusters for key in cloud_keys(each)),
    )
