"""podEphemeralContainersStrategy: pods/ephemeralcontainers adds containers, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.handlers.pod_logs import SIMULATED
from quintant.cluster.apiserver.handlers.pod_streams import simulated_pod
from quintant.cluster.apiserver.handlers.subresources import EPHEMERAL_CONTAINERS
from quintant.cluster.apiserver.meta.types import JsonObject

_LIST = "ephemeralContainers"


def add_ephemeral_containers(pod: JsonObject, live: JsonObject, now: str) -> None:
    """Keep all but the ephemeral containers as it is, in place; 400 for a pod without programs."""
    if (live.get("status") or {}).get("reason") == SIMULATED:
        raise simulated_pod(live["metadata"]["name"])
    added, managers = pod["spec"].get(_LIST), pod["metadata"].get("managedFields")
    pod.clear()
    pod |= live
    pod["metadata"] = {**live["metadata"], **({"managedFields": managers} if managers else {})}
    pod["spec"] = {key: value for key, value in live["spec"].items() if key != _LIST}
    if added:
        pod["spec"][_LIST] = added


PREPARE_POD_SUBRESOURCE: Mapping[str, Callable[[JsonObject, JsonObject, str], None]] = {
    EPHEMERAL_CONTAINERS: add_ephemeral_containers,
}


def pod_reset_fields() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """What nobody owns by adding ephemeral containers: the rest of the spec, and the status."""
    fields = go_types.message("core.v1.PodSpec").fields
    others = (("f:spec", f"f:{name}") for name in fields if name != _LIST)
    return {EPHEMERAL_CONTAINERS: (("f:status",), *others)}
