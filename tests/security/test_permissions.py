"""Nobody gives themselves more than they have: escalate, bind, aggregation, tokens.

On both servers: test_auth in conformance.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quintant.cluster.apiserver.meta.user import User
from unit.cluster.api import Api, JsonObject, server

RBAC = "rbac.authorization.k8s.io"
CLUSTER = f"/apis/{RBAC}/v1"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
EVERYTHING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
HOUR = 3600
LEEWAY = 120
"""Seconds after which clocks that differ are no excuse: a real server allows for one minute."""


def _role(name: str, *rules: JsonObject, **more: Any) -> JsonObject:
    labels = more.pop("labels", {})
    return {"metadata": {"name": name, "labels": labels}, "rules": list(rules), **more}


def _binding(role: str, user: str) -> JsonObject:
    return {
        "metadata": {"name": f"{role}-{user}"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "User", "apiGroup": RBAC, "name": user}],
    }


async def _keeper() -> tuple[Api, Api]:
    """An administrator, and somebody who may write roles and bindings, and nothing else."""
    made = server(rbac=True)
    made.tokens.add("root", User("root", ("system:masters",)))
    made.tokens.add("alice", User("alice"))
    root, alice = Api(made, "root"), Api(made, "alice")
    resources = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"]
    verbs = ["create", "update", "patch", "get", "list", "delete"]
    rule = {"apiGroups": [RBAC], "resources": resources, "verbs": verbs}
    await root.create(f"{CLUSTER}/clusterroles", _role("keeper", rule))
    await root.create(f"{CLUSTER}/clusterrolebindings", _binding("keeper", "alice"))
    return root, alice


async def test_who_may_write_roles_writes_none_that_allows_more() -> None:
    _, alice = await _keeper()
    await alice.create(f"{CLUSTER}/clusterroles", _role("all", EVERYTHING), code=403)
    patch = {"rules": [EVERYTHING]}
    await alice.merge(f"{CLUSTER}/clusterroles/keeper", patch, code=403)
    await alice.apply(
        f"{CLUSTER}/clusterroles/new",
        {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", **_role("new", EVERYTHING)},
        "me",
        code=403,
    )


async def test_who_may_write_bindings_binds_nothing_stronger() -> None:
    _, alice = await _keeper()
    body = _binding("cluster-admin", "alice")
    await alice.create(f"{CLUSTER}/clusterrolebindings", body, code=403)
    local = f"{CLUSTER}/namespaces/default/rolebindings"
    await alice.create(local, body, code=403)
    await alice.get("/api/v1/secrets", code=403)


async def test_aggregation_is_no_way_around_what_one_may_give() -> None:
    root, alice = await _keeper()
    selector = {"clusterRoleSelectors": [{"matchLabels": {"any": "yes"}}]}
    collecting = _role("collecting", aggregationRule=selector)
    await alice.create(f"{CLUSTER}/clusterroles", collecting, code=403)
    # A role of alice's that a strong one collects would make that one no stronger than she is.
    labels = {f"{RBAC}/aggregate-to-view": "true"}
    await alice.create(
        f"{CLUSTER}/clusterroles", _role("more", EVERYTHING, labels=labels), code=403
    )
    await root.create(f"{CLUSTER}/clusterroles", collecting)
    label = {"metadata": {"labels": {"any": "yes"}}}
    await alice.merge(f"{CLUSTER}/clusterroles/cluster-admin", label, code=403)
    found = await root.get(f"{CLUSTER}/clusterroles/collecting")
    assert not found.get("rules")


async def _token(root: Api, **spec: Any) -> str:
    if "robot" not in await root.names(ACCOUNTS):
        await root.create(ACCOUNTS, {"metadata": {"name": "robot"}})
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    made = await root.create(f"{ACCOUNTS}/robot/token", asked)
    token: str = made["status"]["token"]
    return token


async def test_expired_token_is_refused() -> None:
    root, _ = await _keeper()
    robot = Api(root.server, await _token(root, expirationSeconds=HOUR))
    await robot.get("/api")
    await asyncio.sleep(HOUR + LEEWAY)
    await robot.get("/api", code=401)


async def test_token_for_another_audience_is_refused() -> None:
    root, _ = await _keeper()
    robot = Api(root.server, await _token(root, audiences=["vault"]))
    await robot.get("/api", code=401)


@pytest.mark.parametrize("at", [0, 1, 2])
async def test_token_that_was_changed_is_refused(at: int) -> None:
    root, _ = await _keeper()
    parts = (await _token(root)).split(".")
    parts[at] = parts[at][:-2] + ("AA" if parts[at][-2:] != "AA" else "BB")
    await Api(root.server, ".".join(parts)).get("/api", code=401)


async def test_token_without_a_signature_is_refused() -> None:
    root, _ = await _keeper()
    claims = (await _token(root)).split(".")[1]
    none = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0"
    await Api(root.server, f"{none}.{claims}.").get("/api", code=401)


async def test_who_may_make_a_token_is_asked_for_each_account() -> None:
    root, alice = await _keeper()
    await _token(root)
    await alice.create(f"{ACCOUNTS}/robot/token", {"spec": {}}, code=403)
