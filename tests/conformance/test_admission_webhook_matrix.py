"""Every way to change something reaches webhooks, and configurations have to make sense."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from conformance.hooks import REGISTRATION, Hook, Hooks, deny, hooked, patch, rule
from conformance.target import Target, causes, until
from quintant.client.transport import ApiResponse
from unit.cluster.api import MERGE, JsonObject

CONTAINERS = [{"name": "c", "image": "i"}]
POD: JsonObject = {"spec": {"containers": CONTAINERS}}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": CONTAINERS}}
DEPLOYMENT: JsonObject = {
    "spec": {"selector": {"matchLabels": {"a": "b"}}, "replicas": 1, "template": TEMPLATE}
}


@pytest_asyncio.fixture
async def hooks(target: Target) -> AsyncIterator[Hooks]:
    async with hooked(target) as found:
        yield found


@pytest_asyncio.fixture
async def both(hooks: Hooks) -> tuple[Hook, Hook]:
    """A mutating and a validating webhook that are asked about everything in the namespace."""
    mutating, validating = hooks.hook(), hooks.hook()
    await hooks.mutating(mutating)
    await hooks.validating(validating)
    return mutating, validating


async def named(target: Target, plural: str, body: JsonObject, api: str = "v1") -> None:
    await target.create(target.path(plural, api=api), {**body, "metadata": {"name": "a"}})


def about(hook: Hook) -> tuple[str, str, str]:
    """What a hook was asked about last: what was done, to what, in which document."""
    request = hook.last
    kind = request["kind"]
    told = "/".join(part for part in (kind["group"], kind["version"], kind["kind"]) if part)
    return hook.told()[-1], request.get("requestSubResource", ""), told


async def test_the_status_reaches_webhooks(target: Target, both: tuple[Hook, Hook]) -> None:
    await named(target, "pods", POD)
    await target.merge(target.path("pods", "a", sub="status"), {"status": {"phase": "Running"}})
    for hook in both:
        assert about(hook) == ("UPDATE pods/status", "status", "v1/Pod")
        assert hook.last["oldObject"]["status"]["phase"] == "Pending"
        assert hook.last["object"]["status"]["phase"] == "Running"


async def test_the_scale_reaches_webhooks(target: Target, both: tuple[Hook, Hook]) -> None:
    await named(target, "deployments", DEPLOYMENT, "apps/v1")
    path = target.path("deployments", "a", "apps/v1", "scale")
    await target.merge(path, {"spec": {"replicas": 3}})
    for hook in both:
        assert about(hook) == ("UPDATE deployments/scale", "scale", "autoscaling/v1/Scale")
        assert hook.last["oldObject"]["spec"] == {"replicas": 1}
        assert hook.last["object"]["spec"] == {"replicas": 3}
        assert hook.last["resource"]["resource"] == "deployments"


async def test_the_scale_can_be_changed_by_a_webhook(target: Target, hooks: Hooks) -> None:
    await named(target, "deployments", DEPLOYMENT, "apps/v1")
    hook = hooks.hook(patch({"op": "replace", "path": "/spec/replicas", "value": 5}))
    await hooks.mutating(hook, rule("deployments/scale", "UPDATE", "apps"))
    path = target.path("deployments", "a", "apps/v1", "scale")
    scaled = await target.merge(path, {"spec": {"replicas": 3}})
    assert scaled["spec"]["replicas"] == 5
    found = await target.get(target.path("deployments", "a", "apps/v1"))
    assert found["spec"]["replicas"] == 5


async def test_a_binding_reaches_webhooks(target: Target, both: tuple[Hook, Hook]) -> None:
    await named(target, "pods", POD)
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "a"},
        "target": {"kind": "Node", "name": "n"},
    }
    await target.create(target.path("pods", "a", sub="binding"), body)
    for hook in both:
        assert about(hook) == ("CREATE pods/binding", "binding", "v1/Binding")
        assert hook.last["object"]["target"] == {"kind": "Node", "name": "n"}
        assert (hook.last["name"], hook.last["oldObject"]) == ("a", None)


async def test_a_binding_can_be_denied(target: Target, hooks: Hooks) -> None:
    await named(target, "pods", POD)
    await hooks.validating(hooks.hook(deny("not there")), rule("pods/binding", "CREATE"))
    body = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n"}}
    await target.create(target.path("pods", "a", sub="binding"), body, code=400)
    assert "nodeName" not in (await target.get(target.path("pods", "a")))["spec"]


async def test_an_eviction_reaches_webhooks(target: Target, both: tuple[Hook, Hook]) -> None:
    await named(target, "pods", POD)
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}}
    await target.create(target.path("pods", "a", sub="eviction"), body)
    for hook in both:
        assert about(hook) == ("CREATE pods/eviction", "eviction", "policy/v1/Eviction")
        assert "DELETE pods" not in hook.told()


async def test_a_request_for_a_token_reaches_webhooks(
    target: Target, both: tuple[Hook, Hook]
) -> None:
    await named(target, "serviceaccounts", {})
    await target.create(target.path("serviceaccounts", "a", sub="token"), {})
    for hook in both:
        document = "authentication.k8s.io/v1/TokenRequest"
        assert about(hook) == ("CREATE serviceaccounts/token", "token", document)


async def test_a_review_of_access_reaches_webhooks(target: Target, both: tuple[Hook, Hook]) -> None:
    api, attributes = "authorization.k8s.io/v1", {"verb": "get", "resource": "pods"}
    spec = {"user": "u", "resourceAttributes": {**attributes, "namespace": target.namespace}}
    await target.create(target.path("localsubjectaccessreviews", api=api), {"spec": spec})
    for hook in both:
        assert hook.told() == ["CREATE localsubjectaccessreviews"]


async def test_an_update_that_creates_is_a_creation(
    target: Target, both: tuple[Hook, Hook]
) -> None:
    path = target.path("leases", "a", "coordination.k8s.io/v1")
    await target.put(path, {"metadata": {"name": "a"}, "spec": {}}, code=201)
    for hook in both:
        assert about(hook) == ("CREATE leases", "", "coordination.k8s.io/v1/Lease")
        assert hook.last["options"]["kind"] == "CreateOptions"


async def test_a_patch_without_a_change_reaches_webhooks(
    target: Target, both: tuple[Hook, Hook]
) -> None:
    await named(target, "configmaps", {"data": {"x": "y"}})
    before = await target.get(target.path("configmaps", "a"))
    after = await target.merge(target.path("configmaps", "a"), {"data": {"x": "y"}})
    assert before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]
    for hook in both:
        assert hook.told() == ["CREATE configmaps", "UPDATE configmaps"]


async def test_an_update_for_another_state_is_refused_after_mutation(
    target: Target, both: tuple[Hook, Hook]
) -> None:
    await named(target, "configmaps", {})
    body = {"metadata": {"name": "a", "resourceVersion": "1"}}
    await target.put(target.path("configmaps", "a"), body, code=409)
    mutating, validating = both
    assert mutating.told()[-1] == "UPDATE configmaps"
    assert validating.told()[-1] == "CREATE configmaps"


async def test_what_is_refused_anyway_does_not_reach_webhooks(
    target: Target, both: tuple[Hook, Hook]
) -> None:
    await target.create(target.path("configmaps"), {"metadata": {"name": "A B"}}, code=422)
    await target.delete(target.path("configmaps", "nope"), code=404)
    await target.merge(target.path("configmaps", "nope"), {}, code=404)
    mutating, validating = both
    assert mutating.told() == ["CREATE configmaps"]
    assert validating.told() == []


async def test_graceful_deletion_reaches_webhooks_once_it_is_news(
    target: Target, both: tuple[Hook, Hook]
) -> None:
    await named(target, "pods", {"spec": {**POD["spec"], "nodeName": "n"}})
    path = target.path("pods", "a")
    await target.delete(path)
    counts = [hook.told().count("DELETE pods") for hook in both]
    await target.delete(path)
    assert [hook.told().count("DELETE pods") for hook in both] == counts
    await target.delete(path, gracePeriodSeconds="0")
    assert all(hook.told()[-1] == "DELETE pods" for hook in both)


async def test_a_collection_is_deleted_as_far_as_webhooks_allow(
    target: Target, hooks: Hooks
) -> None:
    path = target.path("configmaps")
    for name in ("a", "b", "c"):
        labels = {"stays": "yes"} if name == "b" else {}
        await target.create(path, {"metadata": {"name": name, "labels": labels}})
    hook = hooks.hook(deny("it stays"))
    selected = {"matchLabels": {"stays": "yes"}}
    await hooks.validating(hook, rule("configmaps", "DELETE"), objectSelector=selected)
    told = await target.delete(path, code=400)
    assert told["message"] == f'admission webhook "{hook.name}" denied the request: it stays'
    assert "b" in await target.names(path)


async def test_namespaces_reach_webhooks_by_their_own_labels(target: Target, hooks: Hooks) -> None:
    hook = hooks.hook(deny("no such place"))
    mine = {"matchLabels": {"check": target.namespace}}
    await hooks.install("validating", hooks.entry(hook, rule("namespaces"), namespaceSelector=mine))
    name = f"{target.namespace}-new"
    body = {"metadata": {"name": name, "labels": mine["matchLabels"]}}
    await target.create("/api/v1/namespaces", body, code=400)
    assert (hook.last["namespace"], hook.last["name"]) == (name, name)
    del body["metadata"]["labels"]
    await target.create("/api/v1/namespaces", body)


async def test_finalizers_of_a_namespace_reach_webhooks(
    target: Target, both: tuple[Hook, Hook]
) -> None:
    path = f"/api/v1/namespaces/{target.namespace}"
    held = {**await target.get(path), "spec": {"finalizers": ["kubernetes", "check.example.com/x"]}}
    await target.put(f"{path}/finalize", held)
    for hook in both:
        told = ("UPDATE namespaces/finalize", "finalize", "v1/Namespace")
        assert about(hook) == told
        assert hook.last["oldObject"]["spec"] == {"finalizers": ["kubernetes"]}
        assert hook.last["object"]["spec"] == held["spec"]


async def test_custom_resources_reach_webhooks(target: Target, hooks: Hooks) -> None:
    foos = await target.define(subresources={"status": {}})
    mutating = hooks.hook()
    await hooks.mutating(mutating, rule("foos foos/status", "*", foos.group))

    async def attempt() -> ApiResponse:
        return await target.send("POST", foos.path(), foos.object("a", spec={"x": 1}))

    await until(attempt, lambda reply: reply.status == 201)
    await target.ask("PATCH", foos.path("a", "status"), {"status": {"y": 1}}, 200, media=MERGE)
    await target.delete(foos.path("a"))
    assert mutating.told()[-3:] == ["CREATE foos", "UPDATE foos/status", "DELETE foos"]
    kind = {"group": foos.group, "version": "v1", "kind": "Foo"}
    assert {tuple(request["kind"].values()) for request in mutating.requests} == {
        tuple(kind.values())
    }


def entry(**changes: Any) -> JsonObject:
    usual = {
        "name": "a.check.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/x"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return {name: value for name, value in {**usual, **changes}.items() if value is not None}


def ruled(**changes: Any) -> JsonObject:
    return entry(rules=[{**rule("configmaps", "CREATE"), **changes}])


def client(**service: Any) -> JsonObject:
    return entry(clientConfig={"service": {"name": "a", "namespace": "b", **service}})


def condition(name: str, expression: str) -> JsonObject:
    return entry(matchConditions=[{"name": name, "expression": expression}])


INVALID, REQUIRED = "FieldValueInvalid", "FieldValueRequired"
UNSUPPORTED = "FieldValueNotSupported"
WRONG: list[tuple[JsonObject, str, str, str]] = [
    (entry(name="a.b"), "name", INVALID, "should be a domain with at least three segments"),
    (entry(name=""), "name", REQUIRED, ""),
    (entry(sideEffects=None), "sideEffects", REQUIRED, "must specify one of None, NoneOnDryRun"),
    (entry(sideEffects="Some"), "sideEffects", UNSUPPORTED, '"None", "NoneOnDryRun"'),
    (
        entry(admissionReviewVersions=None),
        "admissionReviewVersions",
        REQUIRED,
        "must specify one of v1, v1beta1",
    ),
    (
        entry(admissionReviewVersions=["v9"]),
        "admissionReviewVersions",
        INVALID,
        "must include at least one of v1, v1beta1",
    ),
    (entry(clientConfig={}), "clientConfig", REQUIRED, "exactly one of url or service"),
    (
        entry(clientConfig={"url": "http://a"}),
        "clientConfig.url",
        INVALID,
        "'https' is the only allowed URL scheme",
    ),
    (
        entry(clientConfig={"url": "https://a?b=c"}),
        "clientConfig.url",
        INVALID,
        "query parameters are not permitted in the URL",
    ),
    (client(port=0), "clientConfig.service.port", INVALID, "port is not valid"),
    (client(path="/a//b"), "clientConfig.service.path", INVALID, "segment[1] may not be empty"),
    (entry(failurePolicy="x"), "failurePolicy", UNSUPPORTED, '"Fail", "Ignore"'),
    (entry(matchPolicy="x"), "matchPolicy", UNSUPPORTED, '"Equivalent", "Exact"'),
    (entry(timeoutSeconds=31), "timeoutSeconds", INVALID, "between 1 and 30 seconds"),
    (ruled(operations=[]), "rules[0].operations", REQUIRED, ""),
    (ruled(operations=["X"]), "rules[0].operations[0]", UNSUPPORTED, '"CONNECT", "CREATE"'),
    (ruled(apiGroups=["*", "a"]), "rules[0].apiGroups", INVALID, "if '*' is present"),
    (ruled(apiVersions=[""]), "rules[0].apiVersions[0]", REQUIRED, ""),
    (ruled(resources=["*/*", "a"]), "rules[0].resources", INVALID, "if '*/*' is present"),
    (ruled(resources=["a/*", "a/b"]), "rules[0].resources[1]", INVALID, "must not specify a/b"),
    (ruled(scope="x"), "rules[0].scope", UNSUPPORTED, '"*", "Cluster", "Namespaced"'),
    (
        entry(objectSelector={"matchLabels": {"a b": "c"}}),
        "objectSelector.matchLabels",
        INVALID,
        "name part must consist",
    ),
    (condition("a", "1 +"), "matchConditions[0].expression", INVALID, "Syntax error"),
    (condition("a", '"a"'), "matchConditions[0].expression", INVALID, "but got string"),
    (condition("a", "request.zz"), "matchConditions[0].expression", INVALID, "undefined field"),
    (condition("", "true"), "matchConditions[0].name", REQUIRED, ""),
]


@pytest.mark.parametrize(("hook", "field", "reason", "text"), WRONG)
async def test_configurations_that_make_no_sense_are_refused(
    target: Target, hook: JsonObject, field: str, reason: str, text: str
) -> None:
    body = {"metadata": {"name": f"wrong.{target.namespace}"}, "webhooks": [hook]}
    for kind in ("mutating", "validating"):
        path = f"{REGISTRATION}/{kind}webhookconfigurations"
        told = await target.create(path, body, code=422, dryRun="All")
        assert causes(told) == [(f"webhooks[0].{field}", reason)]
        assert text in told["message"]


async def test_configurations_are_completed(target: Target) -> None:
    body = {"metadata": {"name": f"whole.{target.namespace}"}, "webhooks": [client()]}
    path = f"{REGISTRATION}/mutatingwebhookconfigurations"
    made = await target.create(path, body, dryRun="All")
    (hook,) = made["webhooks"]
    assert made["metadata"]["generation"] == 1
    assert hook["clientConfig"]["service"]["port"] == 443
    del hook["clientConfig"]
    assert hook == {
        "name": "a.check.example.com",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {},
        "timeoutSeconds": 10,
        "reinvocationPolicy": "Never",
    }
