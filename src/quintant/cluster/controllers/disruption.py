"""DisruptionController, PodDisruptionBudget: how many pods of a budget may be evicted now.

`budget_status` is pure: from the pods that a budget covers, and how many there should be. That is
the number of pods there are, unless the budget is a percentage or names what may be unavailable:
then those who control the pods are asked. Evictions are granted by the server
(quintant.cluster.apiserver.handlers.eviction), which writes down whom it let go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from quintant.api.apps import Deployment, ReplicaSet, StatefulSet
from quintant.api.meta import set_condition
from quintant.api.policy import PodDisruptionBudget, PodDisruptionBudgetStatus
from quintant.cluster.controllers.int_or_percent import scaled_value
from quintant.cluster.controllers.pods.views import PodState, pod_ready
from quintant.core.clock import parse_timestamp
from quintant.core.object import Opaque, OwnerReference, replace
from quintant.core.owner import controller_of
from quintant.runtime.cache.client import Client
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

NAME = "disruption-controller"
DELETION_SECONDS = 120.0
"""How long the server's word that a pod goes is believed without seeing it go."""
ALLOWED = "DisruptionAllowed"
_NAMESPACE = "namespace"
_UNMANAGED = (
    "Pods selected by this PodDisruptionBudget (selector: {selector}) were found to be unmanaged. "
    "As a result, the status of the PDB cannot be calculated correctly, which may result in "
    'undefined behavior. To account for these pods please set ".spec.minAvailable" field of the '
    "PDB to an integer value."
)


_SCALED: dict[str, type[Deployment] | type[ReplicaSet] | type[StatefulSet]] = {
    "Deployment": Deployment,
    "ReplicaSet": ReplicaSet,
    "StatefulSet": StatefulSet,
}
_ZERO = {
    "observedGeneration": 0,
    "disruptionsAllowed": 0,
    "currentHealthy": 0,
    "desiredHealthy": 0,
    "expectedPods": 0,
}
"""Numbers are written even if they are nothing."""


class PodsUncountable(Exception):
    """Nobody can say how many pods there should be; the text says why."""


def declare(manager: Manager) -> None:
    """Add the controller of budgets."""
    near = by_index(_NAMESPACE, lambda obj: (obj.metadata.namespace,))
    (
        manager.controls(PodDisruptionBudget, name=NAME)
        .index(_NAMESPACE, lambda budget: (budget.metadata.namespace,))
        .watches(PodState, to=near)
        .watches(ReplicaSet, to=near)
        .watches(Deployment, to=near)
        .watches(StatefulSet, to=near)
        .reconcile(reconcile)
    )


async def reconcile(
    budget: PodDisruptionBudget, ctx: Context[PodDisruptionBudget]
) -> Result | None:
    """Count the pods of a budget, and say how many of them may go."""
    selector, namespace = budget.spec.selector, budget.metadata.namespace
    listed = await ctx.client.list(PodState, namespace) if selector is not None else ()
    pods = [pod for pod in listed if selector is not None and selector.matches(pod.metadata.labels)]
    if not pods:
        ctx.event("NoPods", "No matching pods found")
    now = ctx.clock.now()
    try:
        expected = await _expected(budget, pods, ctx)
    except PodsUncountable as error:
        ctx.event("CalculateExpectedPodCountFailed", str(error), type="Warning")
        await _write_status(budget, failed_status(budget, str(error), now), ctx.client)
        return None
    status = budget_status(budget, pods, expected, now)
    await _write_status(budget, status, ctx.client)
    # The server's word runs out at some time, and no change announces that.
    return Result(after=DELETION_SECONDS) if status.disrupted_pods else None


def budget_status(
    budget: PodDisruptionBudget, pods: Sequence[PodState], expected: int, now: datetime
) -> PodDisruptionBudgetStatus:
    """The status of a budget that covers these pods, of so many that there should be."""
    leaving = _disrupted_pods(budget.status.disrupted_pods, pods, now)
    staying = [pod for pod in pods if not pod.deleting and pod.metadata.name not in leaving]
    healthy, desired = sum(map(pod_ready, staying)), _desired(budget, expected)
    allowed = max(healthy - desired, 0) if expected > 0 else 0
    generation = budget.metadata.generation
    conditions = set_condition(
        budget.status.conditions, ALLOWED, status=allowed > 0,
        reason="SufficientPods" if allowed > 0 else "InsufficientPods",
        generation=generation, now=now,
    )  # fmt: skip
    return PodDisruptionBudgetStatus(
        observed_generation=generation,
        disruptions_allowed=allowed,
        current_healthy=healthy,
        desired_healthy=desired,
        expected_pods=expected,
        disrupted_pods=leaving,
        conditions=conditions,
    )


def failed_status(
    budget: PodDisruptionBudget, why: str, now: datetime
) -> PodDisruptionBudgetStatus:
    """The status of a budget whose pods cannot be counted: nobody may go."""
    generation = budget.metadata.generation
    conditions = set_condition(
        budget.status.conditions, ALLOWED, status=False, reason="SyncFailed", message=why,
        generation=generation, now=now,
    )  # fmt: skip
    return replace(
        budget.status,
        disruptions_allowed=0,
        observed_generation=generation,
        conditions=conditions,
    )


async def _write_status(
    budget: PodDisruptionBudget, status: PodDisruptionBudgetStatus, client: Client
) -> None:
    """Write a status, unless somebody, such as the server that grants evictions, did so first."""
    if status == budget.status:
        return
    fields = {**_ZERO, **Opaque.of(status).value}
    gone = budget.status.disrupted_pods.keys() - status.disrupted_pods.keys()
    fields["disruptedPods"] = {**dict.fromkeys(gone), **status.disrupted_pods} or None
    version = {"resourceVersion": budget.metadata.resource_version}
    await client.subresource(budget, "status").patch({"metadata": version, "status": fields})


async def _expected(
    budget: PodDisruptionBudget, pods: Sequence[PodState], ctx: Context[PodDisruptionBudget]
) -> int:
    """How many pods there should be."""
    if isinstance(budget.spec.min_available, int):
        return len(pods)
    controllers = {}
    unmanaged = 0
    for pod in pods:
        held = controller_of(pod)
        if held is None:
            unmanaged += 1
        else:
            controllers[held.uid] = held
    if unmanaged:
        selector = Opaque.of(budget.spec.selector).raw.decode()
        ctx.event("UnmanagedPods", _UNMANAGED.format(selector=selector), type="Warning")
    namespace = budget.metadata.namespace
    scales = [await _scale(each, namespace, ctx.client) for each in controllers.values()]
    return sum({uid: replicas for uid, replicas in scales if uid}.values())


async def _scale(held: OwnerReference, namespace: str, client: Client) -> tuple[str, int]:
    """Who decides on the number of a controller's pods, and the number; no uid if it is gone."""
    kind = _SCALED.get(held.kind)
    if kind is None:
        raise PodsUncountable(f"{held.kind.lower()}s do not implement the scale subresource")
    found = await client.find(kind, held.name, namespace)
    if found is None or found.metadata.uid != held.uid:
        return "", 0
    above = controller_of(found)
    if above is not None and above.kind == "Deployment":
        return await _scale(above, namespace, client)
    replicas = found.spec.replicas
    return held.uid, 1 if replicas is None else replicas


def _desired(budget: PodDisruptionBudget, expected: int) -> int:
    """How many pods must stay healthy."""
    spec = budget.spec
    if spec.max_unavailable is not None:
        return max(expected - scaled_value(spec.max_unavailable, expected, up=True), 0)
    if spec.min_available is None:
        return 0
    return scaled_value(spec.min_available, expected, up=True)


def _disrupted_pods(
    granted: Mapping[str, str], pods: Iterable[PodState], now: datetime
) -> dict[str, str]:
    """The pods that were let go and are still here, as if nothing had happened to them."""
    there = {pod.metadata.name for pod in pods if not pod.deleting}
    limit = timedelta(seconds=DELETION_SECONDS)
    return {
        name: since
        for name, since in granted.items()
        if name in there and now - parse_timestamp(since) < limit
    }
