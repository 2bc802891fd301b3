"""EvictionREST: pods/eviction: a pod is deleted if its PodDisruptionBudget allows it.

A pod that has ended, has not begun or is being deleted costs nobody anything. One that is not
healthy costs nothing either, if the budget's policy says so or enough of the others are. Every
other eviction is paid for from the budget's status, before the pod goes: two at once cannot spend
the same. `decrement_disruptions` and `disruption_refusal` are pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from quintant.cluster.apiserver.handlers.delete import Deletes, check_preconditions
from quintant.cluster.apiserver.handlers.delete_options import DeleteOptions
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.conditions import StatusCondition
from quintant.cluster.apiserver.meta.selectors import from_object
from quintant.cluster.apiserver.meta.status import StatusError, bad_request
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.revision_log import RevisionStore

RETRY_SECONDS = 10
"""When to ask again while a budget has not been looked at since it changed."""
_FREE = ("Succeeded", "Failed", "Pending")
"""The phases in which a pod's eviction is no disruption."""
_SEVERAL = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
    "support."
)
_VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget."
_TARGET = StatusCondition(
    "DisruptionTarget", True, "EvictionByEvictionAPI", "Eviction API: evicting"
)
_ALLOWED = "DisruptionAllowed"
_SYNC_FAILED = "SyncFailed"


class Evictions(msgspec.Struct, frozen=True):
    """Evicts pods; `budgets` is the kind of the budgets that are asked."""

    store: RevisionStore
    objects: ObjectStore
    deletes: Deletes
    budgets: Kind

    def evict(self, pod: ObjectRef, sent: Any, options: DeleteOptions, now: str) -> None:
        """Delete a pod, or say which budget cannot spare it."""
        metadata = sent.get("metadata") or {} if isinstance(sent, dict) else {}
        if metadata.get("name") != pod.name:
            raise bad_request("name in URL does not match name in Eviction object")
        live = stored_json.unpack(pod.kind, self.objects.get(pod))
        check_preconditions(pod, live, options)
        if not _costless(live):
            self._charge(pod, live, options, now)
        if not options.dry_run and not live["metadata"].get("deletionTimestamp"):
            self.objects.update_raw(pod, lambda obj: _marked(obj, now))
        self.deletes.delete(pod, replace(options, rv=""))

    def _charge(self, pod: ObjectRef, live: JsonObject, options: DeleteOptions, now: str) -> None:
        covering = list(self._covering(live))
        if len(covering) > 1:
            raise StatusError(500, "", _SEVERAL)
        for budget in covering:
            if evictable_unhealthy(live, budget):
                continue
            if error := disruption_refusal(budget):
                raise error
            if not options.dry_run:
                name, namespace = budget["metadata"]["name"], budget["metadata"]["namespace"]
                target = ObjectRef(self.budgets, namespace, name, "status")
                self.objects.update_raw(
                    target, lambda obj: decrement_disruptions(obj, pod.name, now)
                )

    def _covering(self, pod: JsonObject) -> Iterator[JsonObject]:
        """The budgets whose selector takes the pod."""
        labels = pod["metadata"].get("labels") or {}
        prefix = f"{pod['metadata']['namespace']}/"
        for _, entry in self.store.table(self.budgets.table).now.scan(prefix):
            budget = stored_json.unpack(self.budgets, entry)
            selector = budget["spec"].get("selector")
            if selector is not None and from_object(selector).matches(labels):
                yield budget


def evictable_unhealthy(pod: JsonObject, budget: JsonObject) -> bool:
    """Whether a pod may go because it is of no use anyway."""
    if _ready(pod):
        return False
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy", 0)
    return bool(desired > 0 and status.get("currentHealthy", 0) >= desired)


def disruption_refusal(budget: JsonObject) -> StatusError | None:
    """Why a budget cannot spare a pod; None if it can."""
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        text = f"The disruption budget {name} is still being processed by the server."
        return _refused(text, RETRY_SECONDS)
    return None if status.get("disruptionsAllowed", 0) > 0 else _refused(_broke(name, status))


def decrement_disruptions(budget: JsonObject, pod: str, now: str) -> JsonObject:
    """The budget with one disruption less, and the pod it was spent on."""
    status = budget["status"]
    status["disruptionsAllowed"] -= 1
    status["disruptedPods"] = {**(status.get("disruptedPods") or {}), pod: now}
    if not status["disruptionsAllowed"]:
        for condition in status.get("conditions") or ():
            if condition["type"] == _ALLOWED:
                change = {"status": "False", "reason": "InsufficientPods", "message": ""}
                condition |= {**change, "lastTransitionTime": now}
    return budget


def _broke(name: str, status: JsonObject) -> str:
    """What a budget without a disruption left says."""
    for condition in status.get("conditions") or ():
        if condition["type"] == _ALLOWED and condition.get("reason") == _SYNC_FAILED:
            return (
                f"The disruption budget {name} does not allow evicting pods currently because it "
                f"failed sync: {condition.get('message', '')}"
            )
    current, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    if current <= desired:
        return (
            f"The disruption budget {name} needs {desired} healthy pods and has {current} currently"
        )
    return f"The disruption budget {name} does not allow evicting pods currently"


def _refused(text: str, seconds: int = 0) -> StatusError:
    cause = {"reason": "DisruptionBudget", "message": text}
    details = {"causes": [cause], **({"retryAfterSeconds": seconds} if seconds else {})}
    return StatusError(429, "TooManyRequests", _VIOLATED, details)


def _costless(pod: JsonObject) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in _FREE or bool(pod["metadata"].get("deletionTimestamp"))


def _ready(pod: JsonObject) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _marked(pod: JsonObject, now: str) -> JsonObject:
    """The pod, saying why it goes."""
    pod["status"] = _TARGET.set(pod.get("status") or {}, now)
    return pod
