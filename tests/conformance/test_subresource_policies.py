"""Admission policies of subresources: status, scale, what only acts, and connections with pods."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from conformance.kinds import LABELS, POD_SPEC, WORKLOAD
from conformance.policies import (
    Policies,
    applied,
    constraints,
    json_patch,
    rule,
    validation,
)
from conformance.target import Target, decoded
from conformance.test_pod_logs import ACCOUNT
from unit.cluster.api import MERGE, JsonObject

CONNECTIONS = {"command": "ls", "stdout": "true", "ports": "80"}
DEPLOYMENT: JsonObject = {"metadata": {"name": "d"}, "spec": {"replicas": 1, **WORKLOAD}}
SCALE: JsonObject = {"spec": {"replicas": 2}}
REPLICAS = {"type": "object", "properties": {"replicas": {"type": "integer"}}}
SCALED: JsonObject = {"type": "object", "properties": {"spec": REPLICAS, "status": REPLICAS}}
SEEN = (
    "request.operation + ' ' + request.resource.resource + '/' + request.subResource + ' ' "
    "+ request.kind.kind + ' ' + request.name + ' ' + (has(object.kind) ? object.kind : '-')"
)
"""Tells, in a refusal, what a policy sees of a request."""


@pytest_asyncio.fixture
async def policies(target: Target) -> AsyncIterator[Policies]:
    await target.send("POST", target.path("serviceaccounts"), ACCOUNT)
    await target.create(target.path("pods"), {"metadata": {"name": "p"}, "spec": POD_SPEC})
    await target.create(target.path("deployments", api="apps/v1"), DEPLOYMENT)
    found = Policies(target)
    try:
        yield found
    finally:
        await found.remove()


def pods(target: Target, sub: str) -> str:
    return target.path("pods", "p", sub=sub)


def scale(target: Target) -> str:
    return target.path("deployments", "d", "apps/v1", "scale")


async def sent(target: Target, method: str, sub: str) -> tuple[int, str]:
    """How a request to a subresource of the pod, or of another object, ends."""
    named = {"metadata": {"name": "p"}}
    bodies: dict[str, tuple[str, Any]] = {
        "status": (pods(target, "status"), {"status": {"phase": "Running"}}),
        "ephemeralcontainers": (
            pods(target, "ephemeralcontainers"),
            {"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}]}},
        ),
        "binding": (pods(target, "binding"), {**named, "target": {"kind": "Node", "name": "n"}}),
        "eviction": (pods(target, "eviction"), named),
        "scale": (scale(target), SCALE),
        "token": (target.path("serviceaccounts", "default", sub="token"), {}),
    }
    path, body = bodies.get(sub, (pods(target, sub), None))
    query = {} if body is not None else CONNECTIONS
    media = MERGE if method == "PATCH" else "application/json"
    reply = await target.send(method, path, body, media=media, **query)  # type: ignore[arg-type]
    return reply.status, decoded(reply.body).get("message", "")


WRITTEN = [
    ("PATCH", "status", "pods", "", "UPDATE pods/status Pod p Pod"),
    (
        "PATCH",
        "ephemeralcontainers",
        "pods",
        "",
        "UPDATE pods/ephemeralcontainers Pod p Pod",
    ),
    ("POST", "binding", "pods", "", "CREATE pods/binding Binding p Binding"),
    ("POST", "eviction", "pods", "", "CREATE pods/eviction Eviction p Eviction"),
    ("PATCH", "scale", "deployments", "apps", "UPDATE deployments/scale Scale d Scale"),
    (
        "POST",
        "token",
        "serviceaccounts",
        "",
        "CREATE serviceaccounts/token TokenRequest default TokenRequest",
    ),
    ("GET", "exec", "pods", "", "CONNECT pods/exec PodExecOptions p PodExecOptions"),
    ("POST", "attach", "pods", "", "CONNECT pods/attach PodAttachOptions p PodAttachOptions"),
    (
        "GET",
        "portforward",
        "pods",
        "",
        "CONNECT pods/portforward PodPortForwardOptions p PodPortForwardOptions",
    ),
    ("GET", "proxy", "pods", "", "CONNECT pods/proxy PodProxyOptions p PodProxyOptions"),
]


@pytest.mark.parametrize(
    ("method", "sub", "plural", "group", "seen"), WRITTEN, ids=[each[1] for each in WRITTEN]
)
async def test_a_policy_of_a_subresource_sees_what_is_sent_and_refuses_it(
    target: Target,
    policies: Policies,
    method: str,
    sub: str,
    plural: str,
    group: str,
    seen: str,
) -> None:
    full = await policies.install(
        validation("false", messageExpression=SEEN),
        matchConstraints=constraints(rule(f"{plural}/{sub}", group=group)),
    )
    code, message = await sent(target, method, sub)
    assert (code, message.endswith(f"denied request: {seen}")) == (422, True), message
    assert f"ValidatingAdmissionPolicy '{full}' with binding '{full}'" in message


@pytest.mark.parametrize(
    ("resources", "refused"),
    [
        ("pods", {"pod"}),
        ("pods/*", {"pod", "status", "exec"}),
        ("pods/status", {"status"}),
        ("*/scale", {"scale"}),
        ("*", {"pod", "deployment"}),
        ("*/*", {"pod", "status", "exec", "deployment", "scale"}),
        ("deployments", {"deployment"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_which_subresources_a_rule_means(
    target: Target, policies: Policies, resources: str, refused: set[str]
) -> None:
    await policies.install(
        validation("false"),
        matchConstraints=constraints(rule(resources, "UPDATE CONNECT", "*")),
    )
    pod = {"metadata": {"labels": LABELS}}
    deployment = target.path("deployments", "d", "apps/v1")
    found = set()
    for name, path, body in (
        ("pod", target.path("pods", "p"), pod),
        ("status", pods(target, "status"), {"status": {"phase": "Running"}}),
        ("deployment", deployment, {"metadata": {"labels": LABELS}}),
        ("scale", scale(target), SCALE),
    ):
        reply = await target.send("PATCH", path, body, media=MERGE)
        if "ValidatingAdmissionPolicy" in decoded(reply.body).get("message", ""):
            found.add(name)
    _, message = await sent(target, "GET", "exec")
    found |= {"exec"} if "ValidatingAdmissionPolicy" in message else set()
    assert found == refused


async def test_a_policy_of_a_status_sees_how_it_was(target: Target, policies: Policies) -> None:
    path = pods(target, "status")
    await policies.install(
        validation("oldObject.status.phase == 'Pending' || object.status.phase != 'Pending'"),
        matchConstraints=constraints(rule("pods/status", "UPDATE")),
    )
    await target.merge(path, {"status": {"phase": "Running"}})
    refused = await target.merge(path, {"status": {"phase": "Pending"}}, code=422)
    assert "failed expression: oldObject.status.phase" in refused["message"]


async def test_a_policy_of_a_scale_sees_how_it_was(target: Target, policies: Policies) -> None:
    await policies.install(
        validation(
            "object.spec.replicas <= oldObject.spec.replicas + 5",
            messageExpression="'from ' + string(oldObject.spec.replicas)",
        ),
        matchConstraints=constraints(rule("*/scale", "UPDATE", "apps")),
    )
    await target.merge(scale(target), {"spec": {"replicas": 6}})
    refused = await target.merge(scale(target), {"spec": {"replicas": 12}}, code=422)
    assert refused["message"].endswith("denied request: from 6")
    # Who writes the whole object is not asked.
    await target.merge(target.path("deployments", "d", "apps/v1"), {"spec": {"replicas": 12}})


async def test_a_policy_of_commands_sees_their_words(target: Target, policies: Policies) -> None:
    await policies.install(
        validation("!('rm' in object.command)", message="not that"),
        matchConstraints=constraints(rule("pods/exec", "CONNECT")),
    )
    path = pods(target, "exec")
    await target.ask("GET", path, None, 400, command="ls", stdout="true")
    reply = await target.send("GET", path, command="rm", stdout="true")
    assert reply.status == 422
    assert decoded(reply.body)["message"].endswith("denied request: not that")


async def test_a_selector_of_labels_means_no_connection(target: Target, policies: Policies) -> None:
    absent = {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}
    await policies.install(
        validation("false"),
        matchConstraints=constraints(rule("pods/exec", "CONNECT"), objectSelector=absent),
    )
    code, message = await sent(target, "GET", "exec")
    assert (code, message) == (400, "pod p does not have a host assigned")


async def test_policies_of_custom_resources_cover_status_and_scale(
    target: Target, policies: Policies
) -> None:
    paths = {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
    }
    kind = await target.define(schema=SCALED, subresources={"status": {}, "scale": paths})
    await target.create(kind.path(), kind.object("a", spec={"replicas": 1}))
    await policies.install(
        validation("false", messageExpression=SEEN),
        matchConstraints=constraints(rule("foos/status foos/scale", "UPDATE", kind.group)),
    )
    for sub, shown in (("status", "Foo a Foo"), ("scale", "Scale a Scale")):
        body = {"status": {"replicas": 1}} if sub == "status" else {"spec": {"replicas": 4}}
        refused = await target.merge(kind.path("a", sub), body, code=422)
        assert refused["message"].endswith(f"denied request: UPDATE foos/{sub} {shown}")
    await target.merge(kind.path("a"), {"spec": {"replicas": 4}})


async def test_a_status_is_mutated_and_nothing_beside_it(
    target: Target, policies: Policies
) -> None:
    await policies.install_mutating(
        applied("Object{status: Object.status{message: 'mutated'}}"),
        applied("Object{spec: Object.spec{activeDeadlineSeconds: 5}}"),
        matchConstraints=constraints(rule("pods/status", "UPDATE")),
    )
    found = await target.merge(pods(target, "status"), {"status": {"phase": "Running"}})
    assert found["status"]["message"] == "mutated"
    assert "activeDeadlineSeconds" not in found["spec"]


def added(path: str, value: Any) -> JsonObject:
    """A mutation that adds a value by a JSON patch."""
    return json_patch(f"[JSONPatch{{op: 'add', path: '{path}', value: {value}}}]")


async def test_a_scale_is_mutated(target: Target, policies: Policies) -> None:
    await policies.install_mutating(
        added("/spec/replicas", "object.spec.replicas * 2"),
        matchConstraints=constraints(rule("deployments/scale", "UPDATE", "apps")),
    )
    found = await target.merge(scale(target), {"spec": {"replicas": 3}})
    assert found["spec"]["replicas"] == 6
    whole = await target.get(target.path("deployments", "d", "apps/v1"))
    assert whole["spec"]["replicas"] == 6


async def test_what_only_acts_is_mutated(target: Target, policies: Policies) -> None:
    await policies.install_mutating(
        added("/spec/expirationSeconds", 700),
        matchConstraints=constraints(rule("serviceaccounts/token", "CREATE")),
    )
    path = target.path("serviceaccounts", "default", sub="token")
    made = await target.create(path, {"spec": {"expirationSeconds": 3600}})
    assert made["spec"]["expirationSeconds"] == 700


@pytest.mark.parametrize(
    ("method", "sub", "plural", "group", "kind"),
    [
        ("PATCH", "scale", "deployments", "apps", "autoscaling/v1, Kind=Scale"),
        ("POST", "token", "serviceaccounts", "", "authentication.k8s.io/v1, Kind=TokenRequest"),
        ("POST", "eviction", "pods", "", "policy/v1, Kind=Eviction"),
        ("GET", "exec", "pods", "", "/v1, Kind=PodExecOptions"),
        ("GET", "proxy", "pods", "", "/v1, Kind=PodProxyOptions"),
    ],
    ids=lambda value: "",
)
async def test_a_configuration_is_applied_only_to_what_has_a_schema_in_its_group(
    target: Target,
    policies: Policies,
    method: str,
    sub: str,
    plural: str,
    group: str,
    kind: str,
) -> None:
    full = await policies.install_mutating(
        applied("Object{metadata: Object.metadata{labels: {'a': 'b'}}}"),
        matchConstraints=constraints(rule(f"{plural}/{sub}", group=group)),
    )
    code, message = await sent(target, method, sub)
    assert code == 403
    assert message == (
        f"policy '{full}' with binding '{full}' denied request: error applying patch: failed to "
        f"convert patch object to typed object: no corresponding type for {kind}"
    )


async def test_a_configuration_is_applied_to_a_binding(target: Target, policies: Policies) -> None:
    await policies.install_mutating(
        applied("Object{metadata: Object.metadata{annotations: {'a': 'b'}}}"),
        matchConstraints=constraints(rule("pods/binding", "CREATE")),
    )
    assert (await sent(target, "POST", "binding"))[0] == 201
    found = await target.get(target.path("pods", "p"))
    assert found["metadata"]["annotations"] == {"a": "b"}


async def test_a_binding_is_mutated(target: Target, policies: Policies) -> None:
    await policies.install_mutating(
        json_patch("[JSONPatch{op: 'replace', path: '/target/name', value: 'other'}]"),
        matchConstraints=constraints(rule("pods/binding", "CREATE")),
    )
    assert (await sent(target, "POST", "binding"))[0] == 201
    assert (await target.get(target.path("pods", "p")))["spec"]["nodeName"] == "other"


async def test_a_connection_is_mutated(target: Target, policies: Policies) -> None:
    await policies.install_mutating(
        added("/container", "'mutated'"),
        matchConstraints=constraints(rule("pods/exec", "CONNECT")),
    )
    code, message = await sent(target, "GET", "exec")
    assert (code, message) == (400, "container mutated is not valid for pod p")


async def test_added_containers_are_mutated(target: Target, policies: Policies) -> None:
    debugger = "Object.spec.ephemeralContainers{name: 'e', imagePullPolicy: 'Never'}"
    await policies.install_mutating(
        applied(f"Object{{spec: Object.spec{{ephemeralContainers: [{debugger}]}}}}"),
        matchConstraints=constraints(rule("pods/ephemeralcontainers", "UPDATE")),
    )
    assert (await sent(target, "PATCH", "ephemeralcontainers"))[0] == 200
    found = await target.get(target.path("pods", "p"))
    (container,) = found["spec"]["ephemeralContainers"]
    assert (container["name"], container["imagePullPolicy"]) == ("e", "Never")
