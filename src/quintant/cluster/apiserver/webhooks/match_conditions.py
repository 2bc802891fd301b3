"""matchconditions.Matcher: CEL expressions that decide whether a webhook is called.

They see the new and the old object as they are, the request as a review tells of it, and can ask
what the user may do. CEL is loaded with the first condition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from quintant.cluster.apiserver.authorization.rbac import Decision
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.user import AUTHENTICATED, User, service_account
from quintant.cluster.apiserver.webhooks.attributes import Attributes

if TYPE_CHECKING:
    from quintant.cluster.apiserver.cel import CompiledRule
    from quintant.cluster.apiserver.cel.authorization import AuthorizerCheck, CheckDecision
from quintant.cluster.apiserver.validation.webhooks.match_conditions import (
    compile_match_condition,
    request_types,
)

BUDGET = 2_500_000
"""What all conditions of a webhook may cost together: a real server's limit."""

Decide = Callable[[User, RequestInfo], Decision]


class MatchConditionError(Exception):
    """A condition could not be evaluated; the text says why."""


class CompiledCondition(Struct, frozen=True):
    """One expression; it compiles, for its configuration was found valid."""

    expression: str

    @property
    def program(self) -> CompiledRule:
        return compile_match_condition(self.expression)


def conditions_match(
    conditions: tuple[CompiledCondition, ...], attributes: Attributes, request: Any, decide: Decide
) -> bool:
    """Whether every condition holds; MatchConditionError if one fails and none is false."""
    from quintant.cluster.apiserver.cel import CelError

    variables = _variables(attributes, request, decide)
    budget, errors = BUDGET, []
    for condition in conditions:
        try:
            outcome = condition.program.run(variables, budget)
        except CelError as error:
            errors.append(f"expression '{condition.expression}' resulted in error: {error}")
            continue
        budget -= outcome.cost
        if outcome.value is not True:
            return False
    if errors:
        raise MatchConditionError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    return True


def _variables(attributes: Attributes, request: Any, decide: Decide) -> dict[str, Any]:
    from quintant.cluster.apiserver.cel.authorization import (
        AuthorizerCheck,
        CheckDecision,
        authorizer,
    )
    from quintant.cluster.apiserver.cel.schemas import convert

    def ruled(check: AuthorizerCheck) -> CheckDecision:
        found = decide(_asker(attributes.user, check.account), _route(check))
        return CheckDecision(found.allowed, found.reason)

    resource = attributes.kind.resource
    own = AuthorizerCheck(
        ruled, group=resource.group, resource=resource.plural, sub=attributes.sub,
        namespace=attributes.namespace, name=attributes.name,
    )  # fmt: skip
    return {
        "object": attributes.obj,
        "oldObject": attributes.old,
        "request": convert(request, request_types()["request"]),
        "authorizer": authorizer(ruled, own),
    }


def _asker(user: User, account: str) -> User:
    if not account:
        return user
    *_, namespace, name = account.split(":")
    return service_account(namespace, name).among(AUTHENTICATED)


def _route(check: AuthorizerCheck) -> RequestInfo:
    if check.path:
        return RequestInfo(check.verb, check.path)
    names = (check.resource, check.namespace, check.name, check.sub)
    return RequestInfo(check.verb, "", check.group, "*", *names)
