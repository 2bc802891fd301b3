"""A policy is evaluated within its budget, and its failures count as it says."""

from __future__ import annotations

from typing import Any

from quintant.cluster.apiserver.authorization.rbac import Decision
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.policy.validator import compile_policy, validate
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from quintant.cluster.apiserver.webhooks.activation import OUT_OF_BUDGET, activation
from quintant.cluster.apiserver.webhooks.admission_review import request_of
from quintant.cluster.apiserver.webhooks.attributes import Attributes

MAP = next(kind for kind in builtin_kinds() if kind.name == "configmaps")
OBJ: dict[str, Any] = {"metadata": {"name": "a", "namespace": "n"}, "data": {"k": "v"}}
CHECKS = "authorizer.path('/').check('get').allowed() || authorizer.path('/').check('x').allowed()"


def decide(user: User, request_info: RequestInfo) -> Decision:
    return Decision(False, "")


def denials(*expressions: str, **spec: Any) -> list[str]:
    """The messages of a policy with validations."""
    validations = [{"expression": each} for each in expressions]
    policy = compile_policy({"validations": validations, **spec})
    attributes = Attributes("CREATE", MAP, MAP.resource, "n", "a", "", User("ann"), OBJ)
    names = activation(attributes, request_of(attributes, MAP, ""), decide)
    return [each.message for each in validate(policy, {**names, "params": None})]


def variable(name: str, expression: str) -> dict[str, str]:
    return {"name": name, "expression": expression}


def test_a_variable_is_evaluated_once_for_all_validations() -> None:
    variables = [variable("asked", CHECKS)]
    assert denials(*["!variables.asked"] * 40, variables=variables) == []


def test_what_variables_cost_is_spent_from_the_same_budget() -> None:
    variables = [variable(f"v{at}", CHECKS) for at in range(15)]
    expressions = [f"!variables.v{at}" for at in range(15)]
    assert denials(*expressions, variables=variables) == [OUT_OF_BUDGET]
    assert denials(*expressions, variables=variables, failurePolicy="Ignore") == []


def test_a_variable_that_nobody_uses_cannot_fail() -> None:
    assert denials("true", variables=[variable("v", "object.none")]) == []


def test_a_message_that_costs_too_much_denies_what_was_valid() -> None:
    """Fourteen validations leave too little for a message, which is made in any case."""
    ten = "[0,1,2,3,4,5,6,7,8,9]"
    loops = "".join(f"{ten}.all({name}, " for name in "abcde") + "a + b > -1" + ")" * 5
    validations: list[dict[str, str]] = [{"expression": f"!({CHECKS})"}] * 14
    validations += [{"expression": "true", "messageExpression": f"string({loops})"}]
    found = denials(validations=validations)
    assert set(found) == {f"failed messageExpression: {OUT_OF_BUDGET}"}
    assert denials(validations=validations, failurePolicy="Ignore") == []


def test_an_expression_that_no_longer_compiles_says_so() -> None:
    assert denials("object.") == [
        message for message in denials("object.") if message.startswith("compilation error: ")
    ]
    assert denials("nothing == 1") != []


def test_every_validation_that_fails_is_reported() -> None:
    assert denials("1 == 2", "true", "object.data.k == 'w'") == [
        "failed expression: 1 == 2",
        "failed expression: object.data.k == 'w'",
    ]
