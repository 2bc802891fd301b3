"""Mutating policies come before mutating webhooks, and both again where they ask for it."""

from __future__ import annotations

import pytest

from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import CMS, Api, JsonObject
from unit.cluster.stub_webhooks import Answer, StubDialer, allow, install, patch, rule

GROUP = "/apis/admissionregistration.k8s.io/v1"
COVERED = {
    "operations": ["CREATE"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
}


@pytest.fixture
def dialer() -> StubDialer:
    return StubDialer()


@pytest.fixture
async def api(dialer: StubDialer) -> Api:
    return Api(ApiServer(dialer=dialer))


async def mutate(api: Api, word: str, again: str = "Never") -> None:
    """A policy that adds a word to the order."""
    expression = f"Object{{data: {{'order': object.data.order + '{word}'}}}}"
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}
    spec = {
        "matchConstraints": {"resourceRules": [COVERED]},
        "reinvocationPolicy": again,
        "mutations": [mutation],
    }
    name = {"metadata": {"name": "p"}}
    await api.create(f"{GROUP}/mutatingadmissionpolicies", {**name, "spec": spec})
    bound = {**name, "spec": {"policyName": "p"}}
    await api.create(f"{GROUP}/mutatingadmissionpolicybindings", bound)


def add(word: str) -> Answer:
    """A webhook that adds a word to the order."""

    def step(request: JsonObject) -> JsonObject:
        value = f"{request['object']['data']['order']}{word}"
        answer: JsonObject = patch({"op": "replace", "path": "/data/order", "value": value})(
            request
        )
        return answer

    return step


async def order(api: Api) -> str:
    made = await api.create(CMS, {"metadata": {"name": "a"}, "data": {"order": ""}})
    found: str = made["data"]["order"]
    return found


async def test_webhooks_see_what_policies_made(api: Api, dialer: StubDialer) -> None:
    await install(api, dialer, "mutating", "hook", add("h"), rule("configmaps", "CREATE"))
    await mutate(api, "p")
    assert await order(api) == "ph"


async def test_a_policy_that_asks_for_it_comes_again_after_webhooks(
    api: Api, dialer: StubDialer
) -> None:
    await install(api, dialer, "mutating", "hook", add("h"), rule("configmaps", "CREATE"))
    await mutate(api, "p", again="IfNeeded")
    assert await order(api) == "php"


async def test_a_webhook_that_asks_for_it_comes_again_after_such_a_policy(
    api: Api, dialer: StubDialer
) -> None:
    covered = rule("configmaps", "CREATE")
    await install(api, dialer, "mutating", "hook", add("h"), covered, reinvocationPolicy="IfNeeded")
    await mutate(api, "p", again="IfNeeded")
    assert await order(api) == "phph"


async def test_a_webhook_is_asked_once_where_nothing_changed_after_it(
    api: Api, dialer: StubDialer
) -> None:
    covered = rule("configmaps", "CREATE")
    await install(api, dialer, "mutating", "hook", allow, covered, reinvocationPolicy="IfNeeded")
    await mutate(api, "p")
    assert await order(api) == "p"
    assert len(dialer.told("hook")) == 1
