"""printPod: printer columns of pods: one word for the state, from all containers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.response.printers import (
    AGE,
    NAME,
    NONE,
    Printer,
    TableColumn,
    column,
    metadata,
    part,
    spec,
    status,
    wide,
)
from quintant.cluster.apiserver.response.printers.age import elapsed
from quintant.core.clock import parse_timestamp

_ENDED = frozenset({"Succeeded", "Failed"})
_GATED = "SchedulingGated"
_INITIALIZING = "PodInitializing"
_ENDS = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


class PodSummary(Struct):
    """A pod in a few words."""

    reason: str
    ready: int = 0
    total: int = 0
    restarts: int = 0
    restarted: str = ""
    """When a container last ended and came again."""

    def count(self, container: JsonObject) -> None:
        """Add a container's restarts."""
        self.restarts += container.get("restartCount", 0)
        ended = part(container, "lastState", "terminated").get("finishedAt") or ""
        self.restarted = max(self.restarted, ended)


def summary(pod: JsonObject) -> PodSummary:
    """What a pod is up to."""
    found = PodSummary(_reason(pod), total=len(spec(pod).get("containers") or ()))
    helpers = {each["name"] for each in _init(pod) if each.get("restartPolicy") == "Always"}
    found.total += len(helpers)
    lasting = PodSummary("")
    initializing = _initialize(pod, found, lasting, helpers)
    if not initializing or _condition(pod, "Initialized") == "True":
        found.restarts, found.restarted = lasting.restarts, lasting.restarted
        _run(pod, found)
    if metadata(pod).get("deletionTimestamp"):
        if status(pod).get("reason") == "NodeLost":
            found.reason = "Unknown"
        elif status(pod).get("phase") not in _ENDED:
            found.reason = "Terminating"
    return found


def _reason(pod: JsonObject) -> str:
    gated = any(
        each.get("type") == "PodScheduled" and each.get("reason") == _GATED
        for each in _conditions(pod)
    )
    return _GATED if gated else status(pod).get("reason") or status(pod).get("phase") or ""


def _initialize(
    pod: JsonObject, summary: PodSummary, lasting: PodSummary, helpers: set[str]
) -> bool:
    """Look at the containers that come first; whether one of them holds the others up."""
    for at, container in enumerate(status(pod).get("initContainerStatuses") or ()):
        summary.count(container)
        if container["name"] in helpers:
            lasting.count(container)
        terminated = part(container, "state").get("terminated")
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if container["name"] in helpers and container.get("started"):
            summary.ready += bool(container.get("ready"))
            continue
        summary.reason = f"Init:{_held_up(pod, container, at)}"
        return True
    return False


def _held_up(pod: JsonObject, container: JsonObject, at: int) -> str:
    terminated = part(container, "state").get("terminated")
    waiting = part(container, "state", "waiting").get("reason")
    if terminated is not None:
        return str(terminated.get("reason") or _exit(terminated))
    if waiting and waiting != _INITIALIZING:
        return str(waiting)
    return f"{at}/{len(_init(pod))}"


def _run(pod: JsonObject, summary: PodSummary) -> None:
    """Look at the containers themselves, the first one last: its word counts."""
    running = False
    for container in reversed(status(pod).get("containerStatuses") or ()):
        summary.count(container)
        terminated = part(container, "state").get("terminated")
        waiting = part(container, "state", "waiting").get("reason")
        if waiting:
            summary.reason = waiting
        elif terminated is not None:
            summary.reason = terminated.get("reason") or summary.reason or _exit(terminated)
        elif container.get("ready") and "running" in part(container, "state"):
            running = True
            summary.ready += 1
    if summary.reason == "Completed" and running:
        summary.reason = "Running" if _condition(pod, "Ready") == "True" else "NotReady"


def _exit(terminated: JsonObject) -> str:
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _restarts(pod: JsonObject, now: datetime) -> str:
    found = summary(pod)
    if not (found.restarts and found.restarted):
        return str(found.restarts)
    return f"{found.restarts} ({elapsed(parse_timestamp(found.restarted), now)} ago)"


def _ready(pod: JsonObject) -> str:
    found = summary(pod)
    return f"{found.ready}/{found.total}"


def _address(pod: JsonObject) -> str:
    addresses: list[JsonObject] = status(pod).get("podIPs") or [{}]
    return addresses[0].get("ip") or status(pod).get("podIP") or NONE


def _gates(pod: JsonObject) -> str:
    gates = spec(pod).get("readinessGates") or ()
    met = [gate for gate in gates if _condition(pod, gate["conditionType"]) == "True"]
    return f"{len(met)}/{len(gates)}" if gates else NONE


def _ended(pod: JsonObject) -> list[JsonObject]:
    phase = status(pod).get("phase", "")
    if phase not in _ENDED:
        return []
    about = {"reason": phase, "message": _ENDS[phase]}
    return [{"type": "Completed", "status": "True", **about}]


def _init(pod: JsonObject) -> list[JsonObject]:
    return spec(pod).get("initContainers") or []


def _conditions(pod: JsonObject) -> Iterator[JsonObject]:
    yield from status(pod).get("conditions") or ()


def _condition(pod: JsonObject, name: str) -> str:
    return next((each["status"] for each in _conditions(pod) if each.get("type") == name), "")


POD = Printer(
    (
        NAME,
        column("Ready", _ready),
        column("Status", lambda pod: summary(pod).reason),
        TableColumn("Restarts", _restarts),
        AGE,
        wide("IP", _address),
        wide("Node", lambda pod: spec(pod).get("nodeName") or NONE),
        wide("Nominated Node", lambda pod: status(pod).get("nominatedNodeName") or NONE),
        wide("Readiness Gates", _gates),
    ),
    _ended,
)
