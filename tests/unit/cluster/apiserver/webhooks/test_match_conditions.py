"""Conditions see the change, the request and the user's permissions."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.authorization.rbac import Decision
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from quintant.cluster.apiserver.webhooks.admission_review import request_of
from quintant.cluster.apiserver.webhooks.attributes import Attributes
from quintant.cluster.apiserver.webhooks.match_conditions import (
    CompiledCondition,
    MatchConditionError,
    conditions_match,
)

POD = next(kind for kind in builtin_kinds() if kind.name == "pods")
OBJ: dict[str, Any] = {"metadata": {"name": "p", "namespace": "n", "labels": {"a.b/c": "d"}}}
ANN = User("ann", ("dev",), extra={"scope": ("x",)})


def decide(user: User, route: RequestInfo) -> Decision:
    """Ann reads pods and /healthz; the account n/robot deletes pods."""
    where = (route.verb, route.resource or route.path, route.subresource)
    mine = where in (("get", "pods", ""), ("get", "/healthz", ""))
    robot = user.account == ("n", "robot") and where == ("delete", "pods", "")
    return Decision((user.name == "ann" and mine) or robot, "because")


def holds(*expressions: str, old: Any = None) -> bool:
    attributes = Attributes("CREATE", POD, POD.resource, "n", "p", "", ANN, OBJ, old)
    conditions = tuple(map(CompiledCondition, expressions))
    return conditions_match(conditions, attributes, request_of(attributes, POD, "uid"), decide)


@pytest.mark.parametrize(
    "expression",
    [
        'object.metadata.namespace == "n"',
        'object.metadata.labels["a.b/c"] == "d"',
        "oldObject == null",
        'request.namespace == "n" && request.name == "p"',
        'request.kind.kind == "Pod" && request.resource.resource == "pods"',
        'request.userInfo.username == "ann" && "dev" in request.userInfo.groups',
        'request.userInfo.extra["scope"] == ["x"]',
        "!request.dryRun && !has(request.subResource)",
        'authorizer.group("").resource("pods").check("get").allowed()',
        '!authorizer.group("").resource("pods").subresource("log").check("get").allowed()',
        '!authorizer.group("").resource("pods").check("delete").allowed()',
        'authorizer.path("/healthz").check("get").allowed()',
        'authorizer.requestResource.check("get").allowed()',
        'authorizer.serviceAccount("n", "robot").group("").resource("pods")'
        '.namespace("n").name("p").check("delete").allowed()',
        'authorizer.path("/healthz").check("get").reason() == "because"',
        '!authorizer.path("/x").check("get").errored()',
    ],
)
def test_what_conditions_can_see(expression: str) -> None:
    assert holds(expression)


def test_all_conditions_have_to_hold() -> None:
    assert holds("true", "true")
    assert not holds("true", "false")


def test_one_that_is_false_decides_before_one_that_fails() -> None:
    assert not holds("object.none", "false")


def test_failures_are_told_with_their_expressions() -> None:
    with pytest.raises(MatchConditionError) as one:
        holds("object.none == 1")
    assert str(one.value) == "expression 'object.none == 1' resulted in error: no such key: none"
    with pytest.raises(
        MatchConditionError, match=r"^\[expression 'object.none.*, expression 'object.other"
    ):
        holds("object.none == 1", "object.other == 1")


def test_conditions_together_have_a_budget() -> None:
    asking = 'authorizer.path("/healthz").check("get").allowed()'
    assert holds(*[asking] * 7)
    with pytest.raises(MatchConditionError, match="running out of cost budget"):
        holds(*[asking] * 8)


def test_an_empty_path_cannot_be_asked_about() -> None:
    with pytest.raises(MatchConditionError, match="path must not be empty"):
        holds('authorizer.path("").check("get").allowed()')
