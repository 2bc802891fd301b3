"""ValidateResult: one policy with one set of parameters, evaluated about one change.

    matchConditions ─► validations, their messages ─► auditAnnotations

An expression that fails denies the change, unless the policy's failurePolicy is Ignore.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.policies.expressions import PolicyCompiler
from quintant.cluster.apiserver.validation.policies.validating import has_params
from quintant.cluster.apiserver.webhooks.activation import (
    Budget,
    Evaluated,
    Expression,
    OutOfBudget,
    evaluate,
)
from quintant.cluster.apiserver.webhooks.configuration import IGNORE
from quintant.cluster.apiserver.webhooks.match_conditions import (
    BUDGET as CONDITIONS_BUDGET,
)
from quintant.cluster.apiserver.webhooks.match_conditions import (
    MatchConditionError,
    all_hold,
)

BUDGET = 10_000_000
"""What the expressions of a policy may cost together, for one set of parameters."""
LONGEST_MESSAGE = 5 * 1024
"""Bytes of a message that an expression makes; a longer one is not used."""
INVALID = "Invalid"


class CompiledValidation(Struct, frozen=True):
    """One validation of a policy."""

    expression: Expression
    message_expression: Expression | None
    message: str
    reason: str


class CompiledPolicy(Struct, frozen=True):
    """The expressions of a policy, ready to run."""

    variables: Mapping[str, Expression]
    conditions: tuple[Expression, ...]
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
    variables = {
        each["name"]: _variable(compiler, each["name"], each["expression"])
        for each in spec.get("variables") or ()
    }
    return CompiledPolicy(
        variables,
        tuple(
            compile_expression(compiler, each["expression"].strip(), "bool")
            for each in spec.get("matchConditions") or ()
        ),
        tuple(_validation(compiler, each) for each in spec.get("validations") or ()),
        tuple(
            compile_expression(compiler, each["valueExpression"], "string", "null")
            for each in spec.get("auditAnnotations") or ()
        ),
        spec.get("failurePolicy") == IGNORE,
    )


def validate(policy: CompiledPolicy, names: Mapping[str, Any]) -> list[PolicyDenial]:
    """Why a policy does not admit a change that names tell of; nothing if it does."""
    try:
        if not conditions_hold(policy, names):
            return []
        budget = Budget(BUDGET)
        results = _run(policy, [each.expression for each in policy.validations], names, budget)
        messages, unspoken = _messages(policy, names, budget)
    except (MatchConditionError, OutOfBudget) as error:
        return _failures(policy, PolicyDenial(str(error), ""))
    found: list[PolicyDenial] = []
    for validation, result, message in zip(policy.validations, results, messages, strict=True):
        found += _decide(policy, validation, result, message, unspoken)
    return found + _annotation_failures(policy, names)


def conditions_hold(policy: CompiledPolicy, names: Mapping[str, Any]) -> bool:
    """Whether the conditions of a policy hold; they see no namespace."""
    if not policy.conditions:
        return True
    unspaced = {**names, "namespaceObject": None}
    return all_hold(_run(policy, policy.conditions, unspaced, Budget(CONDITIONS_BUDGET)))


def _messages(
    policy: CompiledPolicy, names: Mapping[str, Any], budget: Budget
) -> tuple[list[Evaluated | None], str]:
    """The message of every validation, and why there is none of any."""
    expressions = [each.message_expression for each in policy.validations]
    unasked = {name: value for name, value in names.items() if name != "authorizer"}
    try:
        return _run(policy, expressions, unasked, budget), ""
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
        results = _run(policy, policy.annotations, names, Budget(BUDGET))
    except OutOfBudget as error:
        return _failures(policy, PolicyDenial(str(error), ""))
    return [
        PolicyDenial(each.error, "", always=True)
        for each in results
        if each is not None and each.error and not policy.ignores_failure
    ]


def _run(
    policy: CompiledPolicy,
    expressions: Any,
    names: Mapping[str, Any],
    budget: Budget,
) -> list[Evaluated | None]:
    # CEL is loaded with the first expression.
    from quintant.cluster.apiserver.policy.composition import LazyVariables

    variables = LazyVariables(policy.variables, names)
    return evaluate(expressions, variables.names, budget, variables.take_cost)


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


def _variable(compiler: PolicyCompiler, name: str, text: str) -> Expression:
    from quintant.cluster.apiserver.cel import Uncompilable

    try:
        return Expression(text, compiler.compile_variable(name, text))
    except Uncompilable as error:
        return Expression(text, None, str(error))


def compile_expression(
    compiler: PolicyCompiler, text: str, *returns: str, authorizer: bool = True
) -> Expression:
    """An expression of a policy with its program, or why it has none."""
    from quintant.cluster.apiserver.cel import Uncompilable

    try:
        return Expression(text, compiler.compile(text, *returns, authorizer=authorizer))
    except Uncompilable as error:
        return Expression(text, None, str(error))
