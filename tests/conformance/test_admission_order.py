"""Which refusal comes first, where a write deserves two: the order of a write's steps.

    NamespaceLifecycle ─► mutating webhooks ─► escalation ─► validation ─► may an update create?
    ─► LimitRanger and other validating plugins ─► validating policies ─► validating webhooks
    ─► ResourceQuota ─► store

Each check first sees that the later refusal is really due, then that the earlier one comes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio

from conformance.controller_cluster import ControllerCluster
from conformance.hooks import Hooks, deny, hooked
from conformance.hooks import rule as matching
from conformance.policies import Policies, validation
from conformance.policies import constraints as policy_constraints
from conformance.policies import rule as policy_rule
from conformance.secured_server import RBAC, As, SecuredServer, rule
from conformance.target import Target, decoded, until
from unit.cluster.api import APPLY, JSON, MERGE, JsonObject, Requests

NEW = ("create", "apply")
"""Ways to make an object."""
OLD = ("update", "patch", "apply")
"""Ways to change an object."""
WAYS = [*((way, False) for way in NEW), *((way, True) for way in OLD)]
EVERY_WAY = pytest.mark.parametrize(("way", "old"), WAYS)
"""Every way to write, each with whether the object is there already."""
UPPER = "NOT A LABEL"
"""No value of a label: refused by validation with 422."""
LEASES = "coordination.k8s.io/v1"
DENIED = "denied the request: no"
EXCEEDED = "exceeded quota: quota"
LIMITED = "maximum storage usage per PersistentVolumeClaim is 1Gi"
ESCALATING = "is attempting to grant RBAC permissions not currently held"
CREATING = "cannot create resource"

Refusal = tuple[int, str]
"""The code of an answer, and its message."""


async def tried(requests: Requests, way: str, collection: str, body: JsonObject) -> Refusal:
    """How a write would end: nothing is stored, so that it can be tried again."""
    method, media = {
        "create": ("POST", JSON),
        "update": ("PUT", JSON),
        "patch": ("PATCH", MERGE),
        "apply": ("PATCH", APPLY),
    }[way]
    path = collection if way == "create" else f"{collection}/{body['metadata']['name']}"
    query: dict[str, Any] = {"dryRun": "All"}
    if way == "apply":
        query |= {"fieldManager": "checks", "force": "true"}
    reply = await requests.send(method, path, body, media=media, **query)
    return reply.status, decoded(reply.body).get("message", "")


async def refused(attempt: Callable[[JsonObject], Any], body: JsonObject, reason: str) -> None:
    """Wait until a write is refused for a reason: a real server needs a moment."""
    code, message = await until(lambda: attempt(body), lambda found: reason in found[1])
    assert (code // 100, reason in message) == (4, True), (code, message)


def labelled(body: JsonObject, value: str) -> JsonObject:
    """An object with a label."""
    return {**body, "metadata": {**body["metadata"], "labels": {"a": value}}}


def service(type: str, name: str = "a") -> JsonObject:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"type": type, "ports": [{"port": 80}]},
    }


def claim() -> JsonObject:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "2Gi"}},
        "storageClassName": "",
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "a"},
        "spec": spec,
    }


def role(*rules: JsonObject, name: str = "a") -> JsonObject:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "Role",
        "metadata": {"name": name},
        "rules": list(rules),
    }


def lease(**spec: Any) -> JsonObject:
    return {"apiVersion": LEASES, "kind": "Lease", "metadata": {"name": "a"}, "spec": spec}


@pytest_asyncio.fixture
async def policies(cluster: ControllerCluster) -> AsyncIterator[Policies]:
    found = Policies(cluster)
    try:
        yield found
    finally:
        await found.remove()


@pytest_asyncio.fixture
async def hooks(cluster: ControllerCluster) -> AsyncIterator[Hooks]:
    async with hooked(cluster) as found:
        yield found


async def without_ports(cluster: ControllerCluster) -> None:
    """Have a quota that leaves no room for a NodePort."""
    spec = {"hard": {"services.nodeports": "0"}}
    await cluster.create(
        cluster.path("resourcequotas"), {"metadata": {"name": "quota"}, "spec": spec}
    )


async def with_little_storage(cluster: ControllerCluster) -> None:
    """Have a limit that every claim of these checks is above."""
    limits = [{"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}]
    await cluster.create(
        cluster.path("limitranges"), {"metadata": {"name": "range"}, "spec": {"limits": limits}}
    )


def writing(requests: Requests, way: str, collection: str) -> Callable[[JsonObject], Any]:
    return lambda body: tried(requests, way, collection, body)


@EVERY_WAY
async def test_what_is_invalid_and_over_quota_is_invalid(
    cluster: ControllerCluster, way: str, old: bool
) -> None:
    services = cluster.path("services")
    if old:
        await cluster.create(services, service("ClusterIP"))
    await without_ports(cluster)
    write = writing(cluster, way, services)
    await refused(write, service("NodePort"), EXCEEDED)
    code, message = await write(labelled(service("NodePort"), UPPER))
    assert (code, "metadata.labels: Invalid value" in message) == (422, True), message


@pytest.mark.parametrize("way", NEW)
async def test_a_pod_that_is_invalid_and_over_quota_is_invalid(
    cluster: ControllerCluster, way: str
) -> None:
    await cluster.create(
        cluster.path("resourcequotas"),
        {"metadata": {"name": "quota"}, "spec": {"hard": {"pods": "0"}}},
    )
    spec = {"containers": [{"name": "c", "image": "i"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    write = writing(cluster, way, cluster.path("pods"))
    await refused(write, pod, EXCEEDED)
    assert (await write(labelled(pod, UPPER)))[0] == 422


@EVERY_WAY
async def test_what_is_invalid_and_above_a_limit_is_invalid(
    cluster: ControllerCluster, way: str, old: bool
) -> None:
    claims = cluster.path("persistentvolumeclaims")
    if old:
        await cluster.create(claims, claim())
    await with_little_storage(cluster)
    write = writing(cluster, way, claims)
    await refused(write, labelled(claim(), "b"), LIMITED)
    code, message = await write(labelled(claim(), UPPER))
    assert (code, "metadata.labels: Invalid value" in message) == (422, True), message


@EVERY_WAY
async def test_what_is_over_quota_and_denied_is_denied(
    cluster: ControllerCluster, hooks: Hooks, way: str, old: bool
) -> None:
    services = cluster.path("services")
    if old:
        await cluster.create(services, service("ClusterIP"))
    await without_ports(cluster)
    write = writing(cluster, way, services)
    await refused(write, service("NodePort"), EXCEEDED)
    await hooks.validating(hooks.hook(deny("no")), matching("services"))
    code, message = await write(service("NodePort"))
    assert (code, DENIED in message) == (400, True), message


@EVERY_WAY
async def test_what_is_above_a_limit_and_denied_is_above_the_limit(
    cluster: ControllerCluster, hooks: Hooks, way: str, old: bool
) -> None:
    claims = cluster.path("persistentvolumeclaims")
    if old:
        await cluster.create(claims, claim())
    hook = hooks.hook(deny("no"))
    await hooks.validating(hook, matching("persistentvolumeclaims"))
    write = writing(cluster, way, claims)
    await refused(write, labelled(claim(), "b"), DENIED)
    await with_little_storage(cluster)
    await refused(write, labelled(claim(), "b"), LIMITED)


async def test_a_policy_refuses_after_limits_and_before_webhooks_and_quotas(
    cluster: ControllerCluster, hooks: Hooks, policies: Policies
) -> None:
    await without_ports(cluster)
    await hooks.validating(hooks.hook(deny("no")), matching("services"))
    write = writing(cluster, "create", cluster.path("services"))
    await refused(write, service("NodePort"), DENIED)
    rules = policy_constraints(policy_rule("services persistentvolumeclaims", "CREATE"))
    await policies.install(validation("false", message="policy"), matchConstraints=rules)
    await refused(write, service("NodePort"), "denied request: policy")
    code, message = await write(labelled(service("NodePort"), UPPER))
    assert (code, "metadata.labels: Invalid value" in message) == (422, True), message
    claims = writing(cluster, "create", cluster.path("persistentvolumeclaims"))
    await refused(claims, claim(), "denied request: policy")
    await with_little_storage(cluster)
    await refused(claims, claim(), LIMITED)


@EVERY_WAY
async def test_what_is_invalid_and_denied_is_invalid_unless_a_mutating_webhook_denies(
    cluster: ControllerCluster, hooks: Hooks, way: str, old: bool
) -> None:
    services = cluster.path("services")
    if old:
        await cluster.create(services, service("ClusterIP"))
    await hooks.validating(hooks.hook(deny("no")), matching("services"))
    write = writing(cluster, way, services)
    await refused(write, labelled(service("ClusterIP"), "b"), DENIED)
    assert (await write(labelled(service("ClusterIP"), UPPER)))[0] == 422
    await hooks.mutating(hooks.hook(deny("no")), matching("services"))
    code, message = await write(labelled(service("ClusterIP"), UPPER))
    assert (code, DENIED in message) == (400, True), message


async def test_a_name_that_is_taken_is_noticed_last(cluster: ControllerCluster) -> None:
    services = cluster.path("services")
    await cluster.create(services, service("ClusterIP"))
    await without_ports(cluster)
    write = writing(cluster, "create", services)
    assert (await write(service("ClusterIP")))[0] == 409
    await refused(write, service("NodePort"), EXCEEDED)
    assert (await write(labelled(service("ClusterIP"), UPPER)))[0] == 422


@pytest.mark.parametrize("way", NEW)
async def test_what_is_invalid_in_a_namespace_that_is_not_there_is_not_found(
    target: Target, way: str
) -> None:
    services = target.elsewhere(f"no-{target.namespace}", "services")
    code, message = await tried(target, way, services, labelled(service("ClusterIP"), UPPER))
    assert (code, message) == (404, f'namespaces "no-{target.namespace}" not found')


@EVERY_WAY
async def test_a_second_default_priority_that_is_invalid_is_invalid(
    cluster: ControllerCluster, way: str, old: bool
) -> None:
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    first, second = f"first-{cluster.namespace}", f"second-{cluster.namespace}"
    await cluster.create(classes, priority_class(first, True))
    try:
        if old:
            await cluster.create(classes, priority_class(second, False))
        write = writing(cluster, way, classes)
        await refused(write, priority_class(second, True), "already marked as default")
        assert (await write(labelled(priority_class(second, True), UPPER)))[0] == 422
    finally:
        for name in (first, second):
            await cluster.send("DELETE", f"{classes}/{name}")


def priority_class(name: str, default: bool) -> JsonObject:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "globalDefault": default,
        "value": 1,
    }


async def keeper(secured: SecuredServer, verbs: str) -> As:
    """A user who may write roles and leases by some verbs, and holds what they may grant."""
    found = secured.acting("keeper")
    await secured.grant(
        found,
        rule(verbs, "roles", RBAC),
        rule(verbs, "leases", "coordination.k8s.io"),
        rule("get", "pods"),
    )
    return found


HELD = rule("get", "pods")
STRONG = rule("get", "secrets")
INVALID = rule("", "pods")
"""It has no verbs."""


@EVERY_WAY
async def test_what_escalates_and_is_invalid_escalates(
    secured: SecuredServer, way: str, old: bool
) -> None:
    roles = secured.rbac("roles")
    if old:
        await secured.create(roles, role(HELD))
    write = writing(await keeper(secured, "create update patch"), way, roles)
    code, message = await write(role(HELD, INVALID))
    assert (code, "rules[1].verbs: Required value" in message) == (422, True), message
    code, message = await write(role(STRONG, INVALID))
    assert (code, ESCALATING in message) == (403, True), message


async def test_what_escalates_and_is_stale_escalates(secured: SecuredServer) -> None:
    roles = secured.rbac("roles")
    await secured.create(roles, role(HELD))
    write = writing(await keeper(secured, "create update patch"), "update", roles)
    stale = {"metadata": {"name": "a", "resourceVersion": "1"}}
    assert (await write({**role(HELD), **stale}))[0] == 409
    code, message = await write({**role(STRONG), **stale})
    assert (code, ESCALATING in message) == (403, True), message


@pytest.mark.parametrize("way", ["update", "apply"])
async def test_an_update_that_may_not_create_and_is_invalid_is_invalid(
    secured: SecuredServer, way: str
) -> None:
    user, path = await keeper(secured, "update patch"), secured.path("leases", api=LEASES)
    write = writing(user, way, path)
    code, message = await write(lease(leaseDurationSeconds=1))
    assert (code, CREATING in message) == (403, True), message
    assert (await write(lease(leaseDurationSeconds=0)))[0] == 422


@pytest.mark.parametrize("way", ["update", "apply"])
async def test_an_update_that_may_not_create_and_escalates_escalates(
    secured: SecuredServer, way: str
) -> None:
    write = writing(await keeper(secured, "update patch"), way, secured.rbac("roles"))
    code, message = await write(role(HELD))
    assert (code, CREATING in message) == (403, True), message
    code, message = await write(role(STRONG))
    assert (code, ESCALATING in message) == (403, True), message


@pytest.mark.parametrize("way", ["update", "apply"])
async def test_an_update_that_may_not_create_does_not_reach_validating_webhooks(
    secured: SecuredServer, way: str
) -> None:
    user, path = await keeper(secured, "update patch"), secured.path("leases", api=LEASES)
    write = writing(user, way, path)
    async with hooked(secured) as hooks:
        mutating, validating = hooks.hook(), hooks.hook(deny("no"))
        await hooks.mutating(mutating, matching("leases", group="coordination.k8s.io"))
        await hooks.validating(validating, matching("leases", group="coordination.k8s.io"))
        code, message = await write(lease(leaseDurationSeconds=1))
        assert (code, CREATING in message) == (403, True), message
        assert (mutating.told(), validating.told()) == (["CREATE leases"], [])


async def test_an_apply_that_may_not_create_and_is_above_a_limit_may_not_create(
    secured: SecuredServer,
) -> None:
    user, claims = secured.acting("keeper"), secured.path("persistentvolumeclaims")
    await secured.grant(user, rule("patch", "persistentvolumeclaims"))
    limits = [{"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}]
    await secured.create(
        secured.path("limitranges"), {"metadata": {"name": "range"}, "spec": {"limits": limits}}
    )
    await refused(writing(secured, "apply", claims), claim(), LIMITED)
    code, message = await tried(user, "apply", claims, claim())
    assert (code, CREATING in message) == (403, True), message
