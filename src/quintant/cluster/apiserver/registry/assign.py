"""podStrategy, generateSelector: what the server itself decides: status of a pod, labels of a job.

Nobody owns what is written here: the status of a new pod, the labels by which a job finds its pods.
One function per kind, in place; `live` is what an update replaces. Addresses are given out in
quintant.cluster.apiserver.registry.service_ips.
"""

from __future__ import annotations

from collections.abc import Callable

from quintant.cluster.apiserver.meta.conditions import StatusCondition
from quintant.cluster.apiserver.meta.names import label_value_errors
from quintant.cluster.apiserver.meta.qos import qos_class
from quintant.cluster.apiserver.meta.types import JsonObject, OtherObjects
from quintant.cluster.apiserver.registry.service_ips import assign_service_ips

_GATED = {
    "type": "PodScheduled",
    "status": "False",
    "lastProbeTime": None,
    "lastTransitionTime": None,
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}
_LOCAL = StatusCondition("Available", True, "Local", "Local APIServices are always available")
_OWN_UID = "batch.kubernetes.io/controller-uid"


def _pod(pod: JsonObject, live: JsonObject | None, others: OtherObjects) -> None:
    spec = pod["spec"]
    if live is None:
        pod["status"] = {"phase": "Pending", "qosClass": qos_class(spec)}
        if spec.get("schedulingGates"):
            pod["status"]["conditions"] = [dict(_GATED)]
    elif given := (live.get("status") or {}).get("qosClass"):
        pod["status"] = {"qosClass": given, **(pod.get("status") or {})}


def _job(job: JsonObject, live: JsonObject | None, others: OtherObjects) -> None:
    """Give the job's pods labels that no other job's have, unless the author chose a selector."""
    spec, metadata = job["spec"], job["metadata"]
    if live is not None:
        return
    if not spec.get("manualSelector"):
        _select_own(spec, metadata)
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    # What is wrong with labels is told of the template's own.
    if not metadata.get("labels") and not any(map(label_value_errors, labels.values())):
        metadata |= {"labels": dict(labels)} if labels else {}


def _select_own(spec: JsonObject, metadata: JsonObject) -> None:
    name = metadata.get("name", "")
    names = {f"{domain}job-name": name for domain in ("", "batch.kubernetes.io/")}
    uids = {"controller-uid": metadata["uid"], _OWN_UID: metadata["uid"]}
    labels = dict(sorted({**names, **uids}.items()))
    template = spec["template"].setdefault("metadata", {})
    template["labels"] = {**(template.get("labels") or {}), **labels}
    selector = spec.setdefault("selector", {})
    selector["matchLabels"] = {
        **(selector.get("matchLabels") or {}),
        _OWN_UID: metadata["uid"],
    }


def _namespace(namespace: JsonObject, live: JsonObject | None, others: OtherObjects) -> None:
    """A generated name is not known any earlier than here; one that is missing is refused later."""
    metadata = namespace["metadata"]
    metadata["labels"] = {
        **(metadata.get("labels") or {}),
        "kubernetes.io/metadata.name": metadata.get("name", ""),
    }


def _volume(volume: JsonObject, live: JsonObject | None, others: OtherObjects) -> None:
    if live is None:
        since = volume["metadata"]["creationTimestamp"]
        volume["status"] = {"phase": "Pending", "lastPhaseTransitionTime": since}


def _api_service(service: JsonObject, live: JsonObject | None, others: OtherObjects) -> None:
    """What this server serves itself is available at once."""
    if live is None and service["spec"].get("service") is None:
        since = service["metadata"]["creationTimestamp"]
        service["status"] = _LOCAL.set(service.get("status") or {}, since)


ASSIGN: dict[str, Callable[[JsonObject, JsonObject | None, OtherObjects], None]] = {
    "apiservices": _api_service,
    "jobs": _job,
    "namespaces": _namespace,
    "persistentvolumes": _volume,
    "pods": _pod,
    "services": assign_service_ips,
}
