"""ValidateResult: one policy with one set of parameters, evaluated about one change.

    matchConditions ─► validations, their messages ─► auditAnnotations

An expression that fails denies the change, unless the policy's failurePolicy is Ignore.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.policy.evaluation import (
    BUDGET,
    PolicyExpressions,
    compile_conditions,
    compile_expression,
    compile_variables,
    conditions_hold,
    run_expressions,
)
from quintant.cluster.apiserver.validation.policies.expressions import PolicyCompiler
from quintant.cluster.apiserver.validation.policies.validating import has_params
from quintant.cluster.apiserver.webhooks.activation import (
    Budget,
    Evaluated,
    Expression,
    OutOfBudget,
)
from quintant.cluster.apiserver.webhooks.configuration import IGNORE
from quintant.cluster.apiserver.webhooks.match_conditions import MatchConditionError

LONGEST_MESSAGE = 5 * 1024
"""Bytes of a message that an expression makes; a longer one is not used."""
INVALID = "Invalid"


class CompiledValidation(Struct, frozen=True):
    """One validation of a policy."""

    expression: Expression
    message_expression: Expression | None
    message: str
    reason: str


class CompiledPolicy(PolicyExpressions, frozen=True, kw_only=True):
    """The expressions of a validating policy, ready to run."""

    validations: tuple[CompiledValidation, ...]
    annotations: tuple[Expression, ...]
    ignores_failure: bool


class PolicyDenial(Struct, frozen=True):
    """Why a policy does not admit a change."""

    message: str
    reason: str = INVALID
    always: bool = False
    """Whatever the binding does about failed validations, the change is refused."""


def compile_policy(spec: JsonObject) -> CompiledPolicy:
    """The programs of a policy; it was found valid, so what does not compile is rare."""
    compiler = PolicyCompiler(params=has_params(spec))
    return CompiledPolicy(
        variables=compile_variables(compiler, spec),
        conditions=compile_conditions(compiler, spec),
        validations=tuple(_validation(compiler, each) for each in spec.get("validations") or ()),
        annotations=tuple(
            compile_expression(compiler, each["valueExpression"], "string", "null")
            for each in spec.get("auditAnnotations") or ()
        ),
        ignores_failure=spec.get("failurePolicy") == IGNORE,
    )


def validate(policy: CompiledPolicy, names: Mapping[str, Any]) -> list[PolicyDenial]:
    """Why a policy does not admit a change that names tell of; nothing if it does."""
    try:
        if not conditions_hold(policy, names):
            return []
        budget = Budget(BUDGET)
        results = run_expressions(
            policy, [each.expression for each in policy.validations], names, budget
        )
        messages, unspoken = _messages(policy, names, budget)
    except (MatchConditionError, OutOfBudget) as error:
        return _failures(policy, PolicyDenial(str(error), ""))
    found: list[PolicyDenial] = []
    for validation, result, message in zip(policy.validations, results, messages, strict=True):
        found += _decide(policy, validation, result, message, unspoken)
    return found + _annotation_failures(policy, names)


def _messages(
    policy: CompiledPolicy, names: Mapping[str, Any], budget: Budget
) -> tuple[list[Evaluated | None], str]:
    """The message of every validation, and why there is none of any."""
    expressions = [each.message_expression for each in policy.validations]
    unasked = {name: value for name, value in names.items() if name != "authorizer"}
    try:
        return run_expressions(policy, expressions, unasked, budget), ""
    except OutOfBudget as error:
        return [None] * len(expressions), str(error)


def _decide(
    policy: CompiledPolicy,
    validation: CompiledValidation,
    result: Evaluated | None,
    message: Evaluated | None,
    unspoken: str,
) -> list[PolicyDenial]:
    assert result is not None, "every validation has an expression"
    if result.error:
        return _failures(policy, PolicyDenial(result.error, ""))
    if unspoken:
        return _failures(policy, PolicyDenial(f"failed messageExpression: {unspoken}", ""))
    if result.value is True:
        return []
    return [PolicyDenial(_message(validation, message), validation.reason)]


def _message(validation: CompiledValidation, made: Evaluated | None) -> str:
    text = made.value.strip() if made and isinstance(made.value, str) else ""
    if not text or "\n" in text or len(text.encode()) > LONGEST_MESSAGE:
        text = validation.message.strip()
    return text or f"failed expression: {validation.expression.text.strip()}"


def _annotation_failures(policy: CompiledPolicy, names: Mapping[str, Any]) -> list[PolicyDenial]:
    """Why annotations cannot be made; there is no audit log that would keep them."""
    try:
        results = run_expressions(policy, policy.annotations, names, Budget(BUDGET))
    except OutOfBudget as error:
        return _failures(policy, PolicyDenial(str(error), ""))
    return [
        PolicyDenial(each.error, "", always=True)
        for each in results
        if each is not None and each.error and not policy.ignores_failure
    ]


def _failures(policy: CompiledPolicy, denial: PolicyDenial) -> list[PolicyDenial]:
    return [] if policy.ignores_failure else [denial]


def _validation(compiler: PolicyCompiler, validation: JsonObject) -> CompiledValidation:
    message = validation.get("messageExpression")
    return CompiledValidation(
        compile_expression(compiler, validation["expression"], "bool"),
        compile_expression(compiler, message, "string", authorizer=False) if message else None,
        validation.get("message") or "",
        validation.get("reason") or INVALID,
    )
