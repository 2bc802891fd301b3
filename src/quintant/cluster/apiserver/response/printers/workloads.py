"""printDeployment, printStatefulSet, printJob: printer columns of workloads."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from quintant.cluster.apiserver.meta.selectors import selector_text
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.response.printers import (
    AGE,
    NAME,
    NONE,
    UNSET,
    Printer,
    TableColumn,
    column,
    joined,
    metadata,
    part,
    spec,
    status,
    wide,
)
from quintant.cluster.apiserver.response.printers.age import age, elapsed
from quintant.core.clock import parse_timestamp

INTEGER = "integer"
# What a job's conditions say about it, the most telling first; an end outweighs a deletion.
_ENDS = {"Complete": "Complete", "Failed": "Failed"}
_STATES = {
    "Suspended": "Suspended",
    "FailureTarget": "FailureTarget",
    "SuccessCriteriaMet": "SuccessCriteriaMet",
}


def _count(name: str) -> Callable[[JsonObject], int]:
    """A number of the status."""
    return lambda obj: int(status(obj).get(name) or 0)


def _wanted(obj: JsonObject) -> int:
    return int(spec(obj).get("replicas") or 0)


def _ready(obj: JsonObject) -> str:
    return f"{_count('readyReplicas')(obj)}/{_wanted(obj)}"


def _containers(field: str, *path: str) -> Callable[[JsonObject], str]:
    """The names or images of a template's containers."""

    return lambda obj: _listed(part(obj, "spec", *path, "template", "spec"), field)


def _listed(pod: JsonObject, field: str) -> str:
    return ",".join(each.get(field, "") for each in pod.get("containers") or ())


def _selector(*path: str) -> Callable[[JsonObject], str]:
    return lambda obj: selector_text(part(obj, "spec", *path).get("selector")) or NONE


def _completions(job: JsonObject) -> str:
    succeeded, wanted = _count("succeeded")(job), spec(job).get("completions")
    if wanted is not None:
        return f"{succeeded}/{wanted}"
    parallelism = spec(job).get("parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _duration(job: JsonObject, now: datetime) -> str:
    started, ended = status(job).get("startTime"), status(job).get("completionTime")
    if not started:
        return ""
    return elapsed(parse_timestamp(started), parse_timestamp(ended) if ended else now)


def _state(job: JsonObject) -> str:
    conditions = status(job).get("conditions") or ()
    true = {each["type"] for each in conditions if each.get("status") == "True"}
    end = next((state for name, state in _ENDS.items() if name in true), "")
    if end or metadata(job).get("deletionTimestamp"):
        return end or "Terminating"
    return next((state for name, state in _STATES.items() if name in true), "Running")


def _suspended(job: JsonObject) -> str:
    suspend = spec(job).get("suspend")
    return UNSET if suspend is None else str(suspend)


def _scheduled(job: JsonObject, now: datetime) -> str:
    last = status(job).get("lastScheduleTime")
    return age(last, now) if last else NONE


_CONTAINERS = wide("Containers", _containers("name"))
_IMAGES = wide("Images", _containers("image"))
_SELECTOR = wide("Selector", _selector())

SCALE = Printer(
    (
        column("Name", lambda obj: metadata(obj).get("name", "")),
        column("Desired", _wanted, INTEGER),
        column("Available", _count("replicas"), INTEGER),
        AGE,
    )
)
DEPLOYMENT = Printer(
    (
        NAME,
        column("Ready", _ready),
        column("Up-to-date", _count("updatedReplicas")),
        column("Available", _count("availableReplicas")),
        *(AGE, _CONTAINERS, _IMAGES, _SELECTOR),
    )
)
REPLICA_SET = Printer(
    (
        NAME,
        column("Desired", _wanted, INTEGER),
        column("Current", _count("replicas"), INTEGER),
        column("Ready", _count("readyReplicas"), INTEGER),
        *(AGE, _CONTAINERS, _IMAGES, _SELECTOR),
    )
)
POD_TEMPLATE = Printer(
    (
        NAME,
        column("Containers", lambda obj: _listed(part(obj, "template", "spec"), "name")),
        column("Images", lambda obj: _listed(part(obj, "template", "spec"), "image")),
        column("Pod Labels", lambda obj: joined(part(obj, "template", "metadata").get("labels"))),
    )
)
STATEFUL_SET = Printer((NAME, column("Ready", _ready), AGE, _CONTAINERS, _IMAGES))
DAEMON_SET = Printer(
    (
        NAME,
        column("Desired", _count("desiredNumberScheduled"), INTEGER),
        column("Current", _count("currentNumberScheduled"), INTEGER),
        column("Ready", _count("numberReady"), INTEGER),
        column("Up-to-date", _count("updatedNumberScheduled"), INTEGER),
        column("Available", _count("numberAvailable"), INTEGER),
        column(
            "Node Selector",
            lambda obj: joined(part(obj, "spec", "template", "spec").get("nodeSelector")),
        ),
        *(AGE, _CONTAINERS, _IMAGES, _SELECTOR),
    )
)
JOB = Printer(
    (
        NAME,
        column("Status", _state),
        column("Completions", _completions),
        TableColumn("Duration", _duration),
        *(AGE, _CONTAINERS, _IMAGES, _SELECTOR),
    )
)
CRON_JOB = Printer(
    (
        NAME,
        column("Schedule", lambda job: spec(job).get("schedule", "")),
        column("Timezone", lambda job: spec(job).get("timeZone") or NONE),
        column("Suspend", _suspended, "boolean"),
        column("Active", lambda job: len(status(job).get("active") or ()), INTEGER),
        TableColumn("Last Schedule", _scheduled),
        AGE,
        wide("Containers", _containers("name", "jobTemplate", "spec")),
        wide("Images", _containers("image", "jobTemplate", "spec")),
        wide("Selector", _selector("jobTemplate", "spec")),
    )
)
