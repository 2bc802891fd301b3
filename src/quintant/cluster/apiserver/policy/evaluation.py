"""CompositedConditionEvaluator: the expressions of a policy, compiled, and run with its variables.

What validating and mutating policies have in common. CEL is loaded with the first expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.policies.expressions import PolicyCompiler
from quintant.cluster.apiserver.webhooks.activation import (
    Budget,
    Evaluated,
    Expression,
    evaluate,
)
from quintant.cluster.apiserver.webhooks.match_conditions import BUDGET as CONDITIONS_BUDGET
from quintant.cluster.apiserver.webhooks.match_conditions import all_hold

BUDGET = 10_000_000
"""What expressions of a policy that are run together may cost, for one set of parameters."""


class PolicyExpressions(Struct, frozen=True, kw_only=True):
    """What every policy has: variables, and conditions that decide whether it is evaluated."""

    variables: Mapping[str, Expression]
    conditions: tuple[Expression, ...]


def conditions_hold(policy: PolicyExpressions, names: Mapping[str, Any]) -> bool:
    """Whether the conditions of a policy hold; they see no namespace.

    MatchConditionError or OutOfBudget if that cannot be decided.
    """
    if not policy.conditions:
        return True
    unspaced = {**names, "namespaceObject": None}
    budget = Budget(CONDITIONS_BUDGET)
    return all_hold(run_expressions(policy, policy.conditions, unspaced, budget))


def run_expressions(
    policy: PolicyExpressions,
    expressions: Iterable[Expression | None],
    names: Mapping[str, Any],
    budget: Budget,
) -> list[Evaluated | None]:
    """What expressions of a policy give; OutOfBudget if they cost too much together."""
    from quintant.cluster.apiserver.policy.composition import LazyVariables

    variables = LazyVariables(policy.variables, names)
    return evaluate(expressions, variables.names, budget, variables.take_cost)


def compile_variables(compiler: PolicyCompiler, spec: JsonObject) -> dict[str, Expression]:
    """The variables of a policy; the compiler knows them afterwards."""
    return {
        each["name"]: _variable(compiler, each["name"], each["expression"])
        for each in spec.get("variables") or ()
    }


def compile_conditions(compiler: PolicyCompiler, spec: JsonObject) -> tuple[Expression, ...]:
    """The match conditions of a policy."""
    return tuple(
        compile_expression(compiler, each["expression"].strip(), "bool")
        for each in spec.get("matchConditions") or ()
    )


def compile_expression(
    compiler: PolicyCompiler,
    text: str,
    *returns: str,
    authorizer: bool = True,
    patch_types: bool = False,
) -> Expression:
    """An expression of a policy with its program, or why it has none."""
    from quintant.cluster.apiserver.cel import Uncompilable

    try:
        program = compiler.compile(text, *returns, authorizer=authorizer, patch_types=patch_types)
    except Uncompilable as error:
        return Expression(text, None, str(error))
    return Expression(text, program)


def _variable(compiler: PolicyCompiler, name: str, text: str) -> Expression:
    from quintant.cluster.apiserver.cel import Uncompilable

    try:
        return Expression(text, compiler.compile_variable(name, text))
    except Uncompilable as error:
        return Expression(text, None, str(error))
