"""For production: two replicas of which one works, a small cache, and series of our own.

Every namespace gets a ConfigMap "census" that says how many pods of it are in which phase. The key
of a reconcile is a namespace, not an object. Of a pod, only its phase is read and kept; of a
namespace, only its metadata.
"""

import asyncio
from collections import Counter

from quintant import Client, KeyContext, Manager, Metadata, Model, Object, Request, projection
from quintant.api.core import ConfigMap, Namespace, Pod
from quintant.api.meta import ObjectMeta
from quintant.metrics import Gauge
from quintant.runtime.observe.logs import get_logger

REPORT_SECONDS = 60.0

log = get_logger()
pods = Gauge("census_pods", "Pods by phase.", ["namespace", "phase"])


class Phase(Model):
    phase: str = "Unknown"


@projection(Pod)
class Counted(Object):
    """A pod, as far as we care; the rest of it is never decoded."""

    status: Phase = Phase()


def whole(obj: Object) -> list[Request]:
    """A pod and its namespace both wake the namespace."""
    return [Request(obj.metadata.namespace or obj.metadata.name)]


async def reconcile(request: Request, ctx: KeyContext) -> None:
    pods.remove_by_labels({"namespace": request.name})
    space = await ctx.client.find(Metadata[Namespace], request.name)
    if space is None or space.deleting:
        return
    found = await ctx.client.list(Counted, request.name)
    counted = Counter(pod.status.phase for pod in found)
    for phase, number in counted.items():
        pods.labels(request.name, phase).set(number)
    census = {phase: str(number) for phase, number in counted.items()}
    meta = ObjectMeta(name="census", namespace=request.name)
    await ctx.client.apply(ConfigMap(metadata=meta, data=census))


async def report(client: Client) -> None:
    """A runnable, where the lease is held: a line for the log every minute."""
    while True:
        await asyncio.sleep(REPORT_SECONDS)
        log.info("counted", pods=len(await client.list(Counted)))


manager = Manager("census", leader_elect=True)
manager.add_collectors(pods)
manager.add(report, leader=True)
(
    manager.keyed("census")
    .watches(Counted, to=whole)
    .watches(Metadata[Namespace], to=whole)
    .watches(ConfigMap, to=whole, fields={"metadata.name": "census"})
    .uses(ConfigMap, "create", "patch")
    .reconcile(reconcile)
)

if __name__ == "__main__":
    manager.run()
