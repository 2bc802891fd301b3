"""evaluationActivation: what expressions of webhooks and policies see, and what they may cost.

Each expression has a limit of its own, and all that are evaluated together share a budget. CEL is
loaded with the first expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from quintant.cluster.apiserver.authorization.rbac import Decision
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.user import AUTHENTICATED, User, service_account
from quintant.cluster.apiserver.validation.webhooks.environment import admission_types
from quintant.cluster.apiserver.webhooks.attributes import Attributes

if TYPE_CHECKING:
    from quintant.cluster.apiserver.cel import CompiledRule
    from quintant.cluster.apiserver.cel.authorization import AuthorizerCheck, CheckDecision

CALL_LIMIT = 1_000_000
"""What one expression may cost: a real server's PerCallLimit."""
OUT_OF_BUDGET = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)

Decide = Callable[[User, RequestInfo], Decision]


class OutOfBudget(Exception):
    """Expressions cost more together than they may."""

    def __init__(self) -> None:
        super().__init__(OUT_OF_BUDGET)


class Expression(Struct, frozen=True):
    """An expression with its program, or what is wrong with it."""

    text: str
    program: CompiledRule | None
    error: str = ""


class Evaluated(Struct, frozen=True):
    """What an expression gave, or why it gave nothing."""

    value: Any = None
    error: str = ""


class Budget:
    """What expressions may still cost; what they call upon spends from it, too."""

    def __init__(self, left: int) -> None:
        self.left: int = left

    def spend(self, cost: int) -> None:
        """Count what was spent; OutOfBudget if it was too much."""
        self.left -= cost
        if self.left < 0:
            raise OutOfBudget


def evaluate(
    expressions: Iterable[Expression | None],
    variables: Mapping[str, Any],
    budget: Budget,
    composed: Callable[[], int] = int,
) -> list[Evaluated | None]:
    """What each expression gives; OutOfBudget if they cost too much together.

    `composed` tells what evaluating the variables that an expression used has cost.
    """
    return [
        None if each is None else _evaluated(each, variables, budget, composed)
        for each in expressions
    ]


def _evaluated(
    expression: Expression,
    variables: Mapping[str, Any],
    budget: Budget,
    composed: Callable[[], int],
) -> Evaluated:
    if expression.program is None:
        return Evaluated(error=f"compilation error: {expression.error}")
    outcome = expression.program.attempt(variables, CALL_LIMIT)
    budget.spend(composed())
    budget.spend(outcome.cost)
    if outcome.error is not None:
        return Evaluated(error=f"expression '{expression.text}' resulted in error: {outcome.error}")
    return Evaluated(outcome.value)


def activation(attributes: Attributes, request: JsonObject, decide: Decide) -> dict[str, Any]:
    """The variables of a change that every expression has; a namespace is not among them."""
    from quintant.cluster.apiserver.cel.schemas import convert

    return {
        "object": attributes.obj,
        "oldObject": attributes.old,
        "request": convert(request, admission_types()["request"]),
        "namespaceObject": None,
        "authorizer": _authorizer(attributes, decide),
    }


def _authorizer(attributes: Attributes, decide: Decide) -> Any:
    from quintant.cluster.apiserver.cel.authorization import (
        AuthorizerCheck,
        CheckDecision,
        authorizer,
    )

    def ruled(check: AuthorizerCheck) -> CheckDecision:
        found = decide(_subject(attributes.user, check.account), _route(check))
        return CheckDecision(found.allowed, found.reason)

    resource = attributes.kind.resource
    own = AuthorizerCheck(
        ruled, group=resource.group, resource=resource.plural, sub=attributes.sub,
        namespace=attributes.namespace, name=attributes.name,
    )  # fmt: skip
    return authorizer(ruled, own)


def _subject(user: User, account: str) -> User:
    if not account:
        return user
    *_, namespace, name = account.split(":")
    return service_account(namespace, name).among(AUTHENTICATED)


def _route(check: AuthorizerCheck) -> RequestInfo:
    if check.path:
        return RequestInfo(check.verb, check.path)
    names = (check.resource, check.namespace, check.name, check.sub)
    return RequestInfo(check.verb, "", check.group, "*", *names)
