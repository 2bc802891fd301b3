"""matchconditions.Matcher: CEL expressions that decide whether a webhook is called.

They see the new and the old object as they are, the request as a review tells of it, and can ask
what the user may do. CEL is loaded with the first condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from quintant.cluster.apiserver.validation.webhooks.match_conditions import (
    compile_match_condition,
)
from quintant.cluster.apiserver.webhooks.activation import (
    Budget,
    Decide,
    Evaluated,
    Expression,
    OutOfBudget,
    activation,
    evaluate,
)
from quintant.cluster.apiserver.webhooks.attributes import Attributes

BUDGET = 2_500_000
"""What all conditions of a webhook may cost together: a real server's limit."""


class MatchConditionError(Exception):
    """A condition could not be evaluated; the text says why."""


class CompiledCondition(Struct, frozen=True):
    """One expression; it compiles, for its configuration was found valid."""

    expression: str

    @property
    def program(self) -> Expression:
        return Expression(self.expression, compile_match_condition(self.expression))


def conditions_match(
    conditions: tuple[CompiledCondition, ...], attributes: Attributes, request: Any, decide: Decide
) -> bool:
    """Whether every condition holds; MatchConditionError if one fails and none is false."""
    variables = activation(attributes, request, decide)
    expressions = [condition.program for condition in conditions]
    try:
        results = evaluate(expressions, variables, Budget(BUDGET))
    except OutOfBudget as error:
        raise MatchConditionError(str(error)) from None
    return all_hold(results)


def all_hold(results: Sequence[Evaluated | None]) -> bool:
    """Whether every condition holds; MatchConditionError if one failed and none is false."""
    known = [each for each in results if each is not None]
    if any(each.value is False and not each.error for each in known):
        return False
    errors = list(dict.fromkeys(each.error for each in known if each.error))
    if errors:
        raise MatchConditionError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    return True
