"""matchPodFailurePolicy, matchSuccessPolicy: what failed pods and indexes mean. Pure."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from quintant.api.batch import JobSpec, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyRule
from quintant.cluster.controllers.job import indexes
from quintant.cluster.controllers.pods.views import PodState, PodStateContainerStatus

FAIL_JOB, FAIL_INDEX, IGNORE = "FailJob", "FailIndex", "Ignore"


class PodFailureAction(Struct, frozen=True):
    """What a failed pod means."""

    counts: bool = True
    """Whether it counts towards the limit of failures."""
    failure: str = ""
    """Why the whole job fails, if it does."""
    dooms: bool = False
    """Whether its index has failed for good."""


def match_pod_failure_policy(spec: JobSpec, pod: PodState) -> PodFailureAction:
    """What a failed pod means for its job: the first rule that fits says so."""
    rules = spec.pod_failure_policy.rules if spec.pod_failure_policy else ()
    for number, rule in enumerate(rules):
        reason = _fits(rule, pod)
        if reason:
            failure = f"{reason} matching {rule.action} rule at index {number}"
            failure = failure if rule.action == FAIL_JOB else ""
            return PodFailureAction(rule.action != IGNORE, failure, rule.action == FAIL_INDEX)
    return PodFailureAction()


def match_success_policy(spec: JobSpec, succeeded: Collection[int]) -> str:
    """Why these indexes are enough; empty if they are not."""
    for number, rule in enumerate(spec.success_policy.rules if spec.success_policy else ()):
        wanted = rule.succeeded_indexes
        needed = (
            indexes.parse_indexes(wanted, spec.completions or 0) if wanted is not None else None
        )
        if needed is not None and not needed:
            continue
        done = len(needed & set(succeeded)) if needed is not None else len(succeeded)
        enough = rule.succeeded_count if rule.succeeded_count is not None else len(needed or ())
        if done and done >= enough:
            return f"Matched rules at index {number}"
    return ""


def _fits(rule: PodFailurePolicyRule, pod: PodState) -> str:
    """How a rule fits a pod, in the words of the failure it may become."""
    meta = pod.metadata
    key = f"{meta.namespace}/{meta.name}"
    if rule.on_exit_codes is not None:
        ended = _ended(rule.on_exit_codes, pod)
        if ended is None or ended.state.terminated is None:
            return ""
        code = ended.state.terminated.exit_code
        return f"Container {ended.name} for pod {key} failed with exit code {code}"
    for condition in pod.status.conditions:
        for pattern in rule.on_pod_conditions:
            if (condition.type, condition.status) == (pattern.type, pattern.status or "True"):
                return f"Pod {key} has condition {condition.type}"
    return ""


def _ended(
    wanted: PodFailurePolicyOnExitCodesRequirement, pod: PodState
) -> PodStateContainerStatus | None:
    """The first container that failed with such a code."""
    for status in (*pod.status.container_statuses, *pod.status.init_container_statuses):
        ended = status.state.terminated
        named = wanted.container_name in (None, status.name)
        if ended is None or not named or ended.exit_code == 0:
            continue
        if (ended.exit_code in wanted.values) == (wanted.operator == "In"):
            return status
    return None
