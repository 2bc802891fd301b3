"""Who may watch one Secret sees that one only; on both servers: test_named_watch in conformance."""

from __future__ import annotations

from typing import Any

from quintant.cluster.apiserver.meta.user import User
from unit.cluster.api import Api, server

SECRETS = "/api/v1/namespaces/default/secrets"
WATCHED = "/api/v1/watch/namespaces/default/secrets"
RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"


async def _alice() -> tuple[Api, Api]:
    """An administrator, and somebody with a role for the Secret "a"."""
    made = server(rbac=True)
    made.tokens.add("root", User("root", ("system:masters",)))
    made.tokens.add("alice", User("alice"))
    root, alice = Api(made, "root"), Api(made, "alice")
    rule = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["watch"], "resourceNames": ["a"]}
    await root.create(f"{RBAC}/roles", {"metadata": {"name": "one"}, "rules": [rule]})
    await root.create(
        f"{RBAC}/rolebindings",
        {
            "metadata": {"name": "one"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "one"},
            "subjects": [
                {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "alice"}
            ],
        },
    )
    for name in ("a", "b"):
        await root.create(SECRETS, {"metadata": {"name": name}, "stringData": {"key": name}})
    return root, alice


async def _seen(user: Api, path: str, query: dict[str, Any]) -> tuple[int, bytes]:
    reply = await user.send("GET", path, timeoutSeconds="1", **query)
    return reply.status, reply.body


async def test_watch_by_name_shows_that_secret_and_no_other() -> None:
    root, alice = await _alice()
    for user in (root, alice):
        status, body = await _seen(user, f"{WATCHED}/a", {})
        assert status == 200
        assert b'"name":"a"' in body
        assert b'"name":"b"' not in body


async def test_name_in_a_selector_does_not_widen_a_watch_by_name() -> None:
    _, alice = await _alice()
    assert (await _seen(alice, f"{WATCHED}/b", {"fieldSelector": "metadata.name=a"}))[0] == 403
    assert (await _seen(alice, f"{WATCHED}/a", {"fieldSelector": "metadata.name=b"}))[0] == 400
    assert (await _seen(alice, WATCHED, {}))[0] == 403
    assert (await _seen(alice, SECRETS, {"watch": "1"}))[0] == 403


async def test_nothing_is_deleted_through_the_path_of_a_watch() -> None:
    root, _ = await _alice()
    assert (await root.send("DELETE", f"{WATCHED}/a")).status == 405
    assert await root.names(SECRETS) == ["a", "b"]
