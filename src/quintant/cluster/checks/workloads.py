"""What is wrong with what runs pods: Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from quintant.cluster.causes import forbidden_field, required, unsupported, wrong
from quintant.cluster.checks.fields import chosen, countable, fixed, share
from quintant.cluster.checks.pods import template_causes
from quintant.cluster.golang import Struct
from quintant.cluster.selectors import from_object
from quintant.runtime.errors import Cause

Plain = dict[str, Any]

_UPDATES = ("Recreate", "RollingUpdate")
_SEEN = (
    *("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    "unavailableReplicas",
)
_CONCURRENCY = ("Allow", "Forbid", "Replace")
_CRON_FIELDS = 5
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_COUNTS = (
    *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit"),
    "ttlSecondsAfterFinished",
)
_OWN_UID = "batch.kubernetes.io/controller-uid"
_STATEFUL = (
    *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
    *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
)
_STATEFUL_TEXT = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
    "'minReadySeconds' are forbidden"
)


def deployment_complaints(obj: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a Deployment."""
    spec = obj["spec"]
    yield from _replicated("deployment", spec)
    yield from _strategy_causes(spec["strategy"])
    deadline, ready = spec["progressDeadlineSeconds"], spec.get("minReadySeconds", 0)
    yield from countable("spec.revisionHistoryLimit", spec["revisionHistoryLimit"])
    yield from countable("spec.progressDeadlineSeconds", deadline)
    if deadline <= ready:
        yield wrong(
            "spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"
        )
    yield from _selector_fixed(spec, live)
    yield from _progress_causes(obj.get("status") or {})


def replica_set_complaints(obj: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a ReplicaSet."""
    yield from _replicated("deployment", obj["spec"])
    yield from _selector_fixed(obj["spec"], live)


def daemon_set_complaints(obj: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a DaemonSet."""
    spec = obj["spec"]
    yield from _matching("daemonset", spec, needed=False)
    yield from template_causes("spec.template", spec["template"])
    yield from _always(spec)
    yield from countable("spec.minReadySeconds", spec.get("minReadySeconds"))
    yield from _selector_fixed(spec, live)


def stateful_set_complaints(obj: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a StatefulSet."""
    spec = obj["spec"]
    yield from _replicated("statefulset", {**spec, "template": _member(spec)})
    if live is not None and any(
        spec.get(name) != live["spec"].get(name)
        for name in {*spec, *live["spec"]}.difference(_STATEFUL)
    ):
        yield forbidden_field("spec", _STATEFUL_TEXT)


def job_complaints(obj: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a Job."""
    spec = obj["spec"]
    yield from _counted("spec", spec)
    yield from _own_selector(obj)
    yield from _finishing("spec", spec)
    if live is None:
        return
    before = live["spec"]
    if spec.get("completionMode") != "Indexed":
        yield from fixed("spec.completions", spec.get("completions"), before.get("completions"))
    yield from fixed("spec.selector", spec.get("selector"), before.get("selector"))
    if not before.get("suspend"):
        yield from fixed("spec.template", spec["template"], before["template"])
    yield from fixed("spec.completionMode", spec["completionMode"], before["completionMode"])


def cron_job_complaints(obj: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a CronJob."""
    spec = obj["spec"]
    words = spec.get("schedule", "").split()
    if not words:
        yield required("spec.schedule")
    elif len(words) != _CRON_FIELDS and not words[0].startswith(("@", "TZ=", "CRON_TZ=")):
        text = f"expected exactly 5 fields, found {len(words)}: [{' '.join(words)}]"
        yield wrong("spec.schedule", spec["schedule"], text)
    yield from chosen("spec.concurrencyPolicy", spec["concurrencyPolicy"], _CONCURRENCY)
    yield from _counted("spec.jobTemplate.spec", spec["jobTemplate"]["spec"])
    yield from _finishing("spec.jobTemplate.spec", spec["jobTemplate"]["spec"])


def _progress_causes(status: Plain) -> Iterator[Cause]:
    """What cannot be, in a Deployment's status."""
    counts = {name: status.get(name, 0) for name in ("observedGeneration", *_SEEN)}
    for name, count in counts.items():
        yield from countable(f"status.{name}", count)
    whole, text = counts["replicas"], "cannot be greater than status.replicas"
    for name in ("updatedReplicas", "readyReplicas", "availableReplicas"):
        if counts[name] > whole:
            yield wrong(f"status.{name}", counts[name], text)
    if counts["availableReplicas"] > counts["readyReplicas"]:
        text = "cannot be greater than readyReplicas"
        yield wrong("status.availableReplicas", counts["availableReplicas"], text)


def _replicated(kind: str, spec: Plain) -> Iterator[Cause]:
    yield from countable("spec.replicas", spec["replicas"])
    yield from countable("spec.minReadySeconds", spec.get("minReadySeconds"))
    yield from _matching(kind, spec, needed=True)
    yield from template_causes("spec.template", spec["template"])
    yield from _always(spec)


def _member(spec: Plain) -> Plain:
    """The template of a StatefulSet, with the claims and the names that its controller sets."""
    template, claims = spec["template"], spec.get("volumeClaimTemplates") or ()
    names = {claim.get("metadata", {}).get("name", ""): None for claim in claims}
    given = template["spec"].get("volumes") or ()
    volumes = [
        *({"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names),
        *(volume for volume in given if volume.get("name") not in names),
    ]
    set_later: Plain = {"volumes": volumes, "hostname": "", "subdomain": ""}
    return {**template, "spec": {**template["spec"], **set_later}}


def _matching(kind: str, spec: Plain, *, needed: bool) -> Iterator[Cause]:
    selector, labels = spec.get("selector"), spec["template"]["metadata"].get("labels")
    if selector is None:
        if needed:
            yield required("spec.selector")
    elif not selector:
        yield wrong("spec.selector", {}, f"empty selector is invalid for {kind}")
        return
    elif odd := [*_odd_operators("spec.selector", selector)]:
        yield from odd
        return
    if selector is None or not from_object(selector).matches(labels or {}):
        text = "`selector` does not match template `labels`"
        yield wrong("spec.template.metadata.labels", labels, text)


def _odd_operators(path: str, selector: Plain) -> Iterator[Cause]:
    for at, expression in enumerate(selector.get("matchExpressions") or ()):
        operator = expression.get("operator", "")
        if operator not in _OPERATORS:
            where = f"{path}.matchExpressions[{at}].operator"
            yield wrong(where, operator, "not a valid selector operator")


def _always(spec: Plain) -> Iterator[Cause]:
    yield from chosen(
        "spec.template.spec.restartPolicy", spec["template"]["spec"]["restartPolicy"], ["Always"]
    )


def _selector_fixed(spec: Plain, live: Plain | None) -> Iterator[Cause]:
    if live is not None:
        yield from fixed("spec.selector", spec.get("selector"), live["spec"].get("selector"))


def _shown(rolling: Plain | None) -> Struct | None:
    """How a Deployment is rolled out, as Go shows it."""
    if rolling is None:
        return None
    return Struct(
        MaxUnavailable=rolling.get("maxUnavailable"),
        MaxSurge=rolling.get("maxSurge"),
    )


def _strategy_causes(strategy: Plain) -> Iterator[Cause]:
    kind, rolling = strategy["type"], strategy.get("rollingUpdate")
    if kind not in _UPDATES:
        yield unsupported(
            "spec.strategy", Struct(Type=kind, RollingUpdate=_shown(rolling)), _UPDATES
        )
    elif kind == "Recreate" and rolling is not None:
        text = "may not be specified when strategy `type` is 'Recreate'"
        yield forbidden_field("spec.strategy.rollingUpdate", text)
    elif rolling is not None:
        for name in ("maxUnavailable", "maxSurge"):
            yield from share(f"spec.strategy.rollingUpdate.{name}", rolling[name])
        if {str(rolling[name]).rstrip("%") for name in ("maxUnavailable", "maxSurge")} == {"0"}:
            text, path = "may not be 0 when `maxSurge` is 0", "rollingUpdate.maxUnavailable"
            yield wrong(f"spec.strategy.{path}", rolling["maxUnavailable"], text)


def _counted(path: str, spec: Plain) -> Iterator[Cause]:
    for name in _COUNTS:
        yield from countable(f"{path}.{name}", spec.get(name))
    if spec.get("completionMode") == "Indexed" and "completions" not in spec:
        yield required(f"{path}.completions", "when completion mode is Indexed")


def _own_selector(job: Plain) -> Iterator[Cause]:
    spec, own = job["spec"], {"matchLabels": {_OWN_UID: job["metadata"]["uid"]}}
    selector, labels = spec.get("selector"), spec["template"]["metadata"].get("labels") or {}
    if selector is None:
        yield required("spec.selector")
        return
    if odd := [*_odd_operators("spec.selector", selector)]:
        yield from odd
        return
    if not spec.get("manualSelector") and selector != own:
        yield wrong("spec.selector", selector, "`selector` not auto-generated")
    if not from_object(selector).matches(labels):
        text = "`selector` does not match template `labels`"
        yield wrong("spec.template.metadata.labels", labels or None, text)


def _finishing(path: str, spec: Plain) -> Iterator[Cause]:
    yield from template_causes(f"{path}.template", spec["template"])
    restart = spec["template"]["spec"]["restartPolicy"]
    if restart not in ("OnFailure", "Never"):
        text = 'valid values: "OnFailure", "Never"'
        yield required(f"{path}.template.spec.restartPolicy", text)


WORKLOADS: dict[str, Callable[[Plain, Plain | None], Iterator[Cause]]] = {
    "cronjobs": cron_job_complaints,
    "daemonsets": daemon_set_complaints,
    "deployments": deployment_complaints,
    "jobs": job_complaints,
    "replicasets": replica_set_complaints,
    "statefulsets": stateful_set_complaints,
}
