"""The first rule that fits a failed pod says what it means."""

from __future__ import annotations

import pytest

from quintant.api.batch import (
    JobSpec,
    PodFailurePolicy,
    PodFailurePolicyOnExitCodesRequirement,
    PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
    SuccessPolicy,
    SuccessPolicyRule,
)
from quintant.api.meta import Condition
from quintant.api.pod import ContainerState, ContainerStateTerminated
from quintant.cluster.controllers.job.policy import (
    PodFailureAction,
    match_pod_failure_policy,
    match_success_policy,
)
from quintant.cluster.controllers.pods.views import (
    PodState,
    PodStateContainerStatus,
    PodStateStatus,
)
from quintant.core.object import ObjectMeta

META = ObjectMeta(name="p", namespace="n")


def failed(code: int, *conditions: Condition) -> PodState:
    status = PodStateContainerStatus(
        name="main", state=ContainerState(terminated=ContainerStateTerminated(exit_code=code))
    )
    told = PodStateStatus(phase="Failed", container_statuses=(status,), conditions=conditions)
    return PodState(metadata=META, status=told)


def rule(
    action: str, operator: str, *values: int, container: str | None = None
) -> PodFailurePolicyRule:
    codes = PodFailurePolicyOnExitCodesRequirement(
        operator=operator, values=values, container_name=container
    )
    return PodFailurePolicyRule(action=action, on_exit_codes=codes)


@pytest.mark.parametrize(
    ("rules", "counts", "fails"),
    [
        ((), True, False),
        ((rule("FailJob", "In", 42),), True, True),
        ((rule("FailJob", "In", 42, container="other"),), True, False),
        ((rule("FailJob", "NotIn", 42),), True, False),
        ((rule("Ignore", "In", 42), rule("FailJob", "In", 42)), False, False),
        ((rule("Count", "In", 42), rule("FailJob", "In", 42)), True, False),
    ],
)
def test_exit_codes(rules: tuple[PodFailurePolicyRule, ...], counts: bool, fails: bool) -> None:
    spec = JobSpec(pod_failure_policy=PodFailurePolicy(rules=rules))
    told = match_pod_failure_policy(spec, failed(42))
    assert (told.counts, bool(told.failure)) == (counts, fails)


def test_conditions() -> None:
    pattern = PodFailurePolicyOnPodConditionsPattern(type="DisruptionTarget")
    rules = (PodFailurePolicyRule(action="Ignore", on_pod_conditions=(pattern,)),)
    spec = JobSpec(pod_failure_policy=PodFailurePolicy(rules=rules))
    disrupted = Condition(type="DisruptionTarget", status="True")
    assert match_pod_failure_policy(spec, failed(1, disrupted)) == PodFailureAction(counts=False)
    assert match_pod_failure_policy(spec, failed(1)) == PodFailureAction()


@pytest.mark.parametrize(
    ("rule", "succeeded", "index"),
    [
        (SuccessPolicyRule(succeeded_indexes="0-2"), {0, 1, 2}, "0"),
        (SuccessPolicyRule(succeeded_indexes="0-2"), {0, 1, 4}, ""),
        (SuccessPolicyRule(succeeded_indexes="0-2", succeeded_count=2), {0, 1, 4}, "0"),
        (SuccessPolicyRule(succeeded_count=2), {3, 4}, "0"),
        (SuccessPolicyRule(succeeded_count=2), {3}, ""),
    ],
)
def test_success_needs_some_indexes_or_a_number_of_them(
    rule: SuccessPolicyRule, succeeded: set[int], index: str
) -> None:
    spec = JobSpec(completions=5, success_policy=SuccessPolicy(rules=(rule,)))
    assert match_success_policy(spec, succeeded) == (index and f"Matched rules at index {index}")
