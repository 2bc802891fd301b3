"""ValidateJob, ValidateCronJobCreate: completions, indexes, policies of failure, schedules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from quintant.cluster.apiserver.golang.printing import GoStruct
from quintant.cluster.apiserver.meta.field_errors import (
    invalid,
    invalid_without_value,
    not_supported,
    required,
    too_long,
)
from quintant.cluster.apiserver.meta.selectors import from_object
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import (
    validate_domain_path,
    validate_enum,
    validate_immutable,
    validate_nonnegative,
)
from quintant.cluster.apiserver.validation.label_selectors import selector_causes
from quintant.cluster.apiserver.validation.pods.pods import template_causes
from quintant.core.cron import locate, parse
from quintant.core.errors import Cause

MOST_INDEXED = 100_000
"""Pods at a time, and failed indexes, of a job that counts by index."""
MANAGER_LIMIT = 63
"""Characters of the name of who manages a job."""
_CONCURRENCY = ("Allow", "Forbid", "Replace")
_MODES = ("NonIndexed", "Indexed")
_REPLACED = ("Failed", "TerminatingOrFailed")
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_COUNTS = (
    *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit"),
    *("ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"),
)
_OWN_UID = "batch.kubernetes.io/controller-uid"
_IN_SCHEDULE = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
_SOMEWHERE = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
_MISMATCH = "`selector` does not match template `labels`"


def validate_job(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a Job."""
    spec = obj["spec"]
    yield from _generated(obj)
    yield from _counted("spec", spec)
    yield from _finishing("spec", spec)
    yield from _matching(spec)
    if live is None:
        return
    before = live["spec"]
    if spec.get("completionMode") != "Indexed":
        yield from validate_immutable(
            "spec.completions", spec.get("completions"), before.get("completions")
        )
    yield from validate_immutable("spec.selector", spec.get("selector"), before.get("selector"))
    if not before.get("suspend"):
        yield from validate_immutable("spec.template", spec["template"], before["template"])
    yield from validate_immutable(
        "spec.completionMode", spec["completionMode"], before["completionMode"]
    )


def validate_cron_job(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a CronJob."""
    spec, path = obj["spec"], "spec.jobTemplate.spec"
    yield from _schedule_causes(spec.get("schedule") or "")
    yield from validate_nonnegative(
        "spec.startingDeadlineSeconds", spec.get("startingDeadlineSeconds")
    )
    if spec.get("timeZone") is not None:
        yield from _zone_causes(spec["timeZone"])
    yield from validate_enum("spec.concurrencyPolicy", spec["concurrencyPolicy"], _CONCURRENCY)
    template = spec["jobTemplate"]["spec"]
    yield from _counted(path, template)
    yield from _finishing(path, template)
    if template.get("selector") is not None:
        text = "`selector` will be auto-generated"
        yield invalid(f"{path}.selector", template["selector"], text)
    if template.get("manualSelector"):
        yield not_supported(f"{path}.manualSelector", True, ["nil", "false"])
    for name in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        yield from validate_nonnegative(f"spec.{name}", spec.get(name))


def _schedule_causes(text: str) -> Iterator[Cause]:
    path = "spec.schedule"
    if not text:
        yield required(path)
        return
    try:
        parse(text)
    except ValueError as error:
        yield invalid(path, text, str(error))
    if "TZ" in text:
        yield invalid(path, text, _IN_SCHEDULE)


def _zone_causes(name: str) -> Iterator[Cause]:
    path = "spec.timeZone"
    if not name:
        yield invalid(path, name, "timeZone must be nil or non-empty string")
    elif name.lower() == "local":
        yield invalid(path, name, _SOMEWHERE)
    else:
        try:
            locate(name)
        except ValueError as error:
            yield invalid(path, name, str(error))


def _counted(path: str, spec: JsonObject) -> Iterator[Cause]:
    for name in _COUNTS:
        yield from validate_nonnegative(f"{path}.{name}", spec.get(name))
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if spec.get("managedBy") is not None:
        yield from validate_domain_path(f"{path}.managedBy", spec["managedBy"])
        if len(spec["managedBy"]) > MANAGER_LIMIT:
            yield too_long(f"{path}.managedBy", MANAGER_LIMIT)
    mode = spec.get("completionMode")
    if mode is not None:
        yield from validate_enum(f"{path}.completionMode", mode, _MODES)
    if mode == "Indexed":
        yield from _indexed(path, spec)
    elif mode in (None, "NonIndexed"):
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if name in spec:
                yield invalid(f"{path}.{name}", spec[name], "requires indexed completion mode")
    yield from _policies(path, spec)


def _indexed(path: str, spec: JsonObject) -> Iterator[Cause]:
    completions, failed = spec.get("completions"), spec.get("maxFailedIndexes")
    if completions is None:
        yield required(f"{path}.completions", "when completion mode is Indexed")
    if spec.get("parallelism", 0) > MOST_INDEXED:
        text = f"must be less than or equal to {MOST_INDEXED} when completion mode is Indexed"
        yield invalid(f"{path}.parallelism", spec["parallelism"], text)
    if failed is not None and completions is not None and failed > completions:
        text = "must be less than or equal to completions"
        yield invalid(f"{path}.maxFailedIndexes", failed, text)
    if failed is not None and failed > MOST_INDEXED:
        text = f"must be less than or equal to {MOST_INDEXED}"
        yield invalid(f"{path}.maxFailedIndexes", failed, text)


def _policies(path: str, spec: JsonObject) -> Iterator[Cause]:
    """What is wrong with what becomes of failures and successes."""
    failures = spec.get("podFailurePolicy")
    for at, rule in enumerate((failures or {}).get("rules") or ()):
        yield from _action_causes(f"{path}.podFailurePolicy.rules[{at}]", rule)
    success = spec.get("successPolicy")
    if success is not None and spec.get("completionMode") != "Indexed":
        shown = GoStruct(Rules=success.get("rules") or [])
        yield invalid(f"{path}.successPolicy", shown, "requires indexed completion mode")
    replaced = spec.get("podReplacementPolicy")
    if replaced is not None:
        allowed = _REPLACED if failures is None else _REPLACED[:1]
        yield from validate_enum(f"{path}.podReplacementPolicy", replaced, allowed)


def _action_causes(path: str, rule: JsonObject) -> Iterator[Cause]:
    action = rule.get("action")
    if not action:
        listed = " ".join(f'"{each}"' for each in _ACTIONS)
        yield required(f"{path}.action", f"valid values: [{listed}]")
    else:
        yield from validate_enum(f"{path}.action", action, _ACTIONS)
    codes = rule.get("onExitCodes")
    if codes is not None:
        yield from _code_causes(f"{path}.onExitCodes", codes)
    if codes is None and not rule.get("onPodConditions"):
        text = "specifying one of OnExitCodes and OnPodConditions is required"
        yield invalid_without_value(path, text)


def _code_causes(path: str, codes: JsonObject) -> Iterator[Cause]:
    operator, values = codes.get("operator") or "", codes.get("values") or []
    yield from validate_enum(f"{path}.operator", operator, ("In", "NotIn"))
    for at, value in enumerate(values):
        if operator == "In" and value == 0:
            yield invalid(f"{path}.values[{at}]", value, "must not be 0 for the In operator")
    if not values:
        yield invalid(f"{path}.values", values, "at least one value is required")


def _generated(job: JsonObject) -> Iterator[Cause]:
    """A job's selector is its own, unless its author says that it is not."""
    spec, own = job["spec"], {"matchLabels": {_OWN_UID: job["metadata"]["uid"]}}
    selector = spec.get("selector")
    if selector is not None and selector != own and not spec.get("manualSelector"):
        yield invalid("spec.selector", selector, "`selector` not auto-generated")


def _matching(spec: JsonObject) -> Iterator[Cause]:
    selector, labels = spec.get("selector"), spec["template"]["metadata"].get("labels") or {}
    if selector is None:
        yield required("spec.selector")
        yield invalid("spec.template.metadata.labels", labels or None, _MISMATCH)
        return
    if odd := [*selector_causes("spec.selector", selector)]:
        yield from odd
        return
    if not from_object(selector).matches(labels):
        yield invalid("spec.template.metadata.labels", labels or None, _MISMATCH)


def _finishing(path: str, spec: JsonObject) -> Iterator[Cause]:
    yield from template_causes(f"{path}.template", spec["template"])
    restart = spec["template"]["spec"]["restartPolicy"]
    if restart not in ("OnFailure", "Never"):
        text = 'valid values: "OnFailure", "Never"'
        yield required(f"{path}.template.spec.restartPolicy", text)


JOBS: dict[str, Callable[[JsonObject, JsonObject | None], Iterator[Cause]]] = {
    "cronjobs": validate_cron_job,
    "jobs": validate_job,
}
