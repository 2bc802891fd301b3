"""Promises of quintant.client.request_info."""

from __future__ import annotations

import pytest

from quintant.client.request_info import Target, target_of, verb_of
from quintant.client.transport import Call

POD = "/api/v1/namespaces/a/pods/web"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/api/v1/pods", Target("", "v1", "", "pods")),
        (POD, Target("", "v1", "a", "pods", "web")),
        (f"{POD}/log", Target("", "v1", "a", "pods", "web", "log")),
        ("/api/v1/namespaces", Target("", "v1", "", "namespaces")),
        ("/api/v1/namespaces/a", Target("", "v1", "", "namespaces", "a")),
        ("/api/v1/namespaces/a/status", Target("", "v1", "", "namespaces", "a", "status")),
        ("/apis/apps/v1/deployments", Target("apps", "v1", "", "deployments")),
        (
            "/apis/x.dev/v1beta1/namespaces/a/things/b/scale",
            Target("x.dev", "v1beta1", "a", "things", "b", "scale"),
        ),
        ("/apis/apps/v1", Target("apps", "v1")),
        ("/apis/apps", Target("apps")),
        ("/api", Target()),
        ("/apis", Target()),
        ("/healthz", Target()),
        ("/", Target()),
    ],
)
def test_path_names_a_resource(path: str, target: Target) -> None:
    assert target_of(path) == target


@pytest.mark.parametrize(
    ("call", "verb"),
    [
        (Call("GET", POD), "get"),
        (Call("GET", "/api/v1/pods"), "list"),
        (Call("GET", "/api/v1/pods", {"watch": "1"}), "watch"),
        (Call("GET", "/api/v1/pods", {"watch": "true"}), "watch"),
        (Call("GET", "/api/v1/pods", {"watch": "false"}), "list"),
        (Call("POST", "/api/v1/namespaces/a/pods"), "create"),
        (Call("PUT", POD), "update"),
        (Call("PATCH", POD, headers={"content-type": "application/merge-patch+json"}), "patch"),
        (Call("PATCH", POD, headers={"content-type": "application/apply-patch+yaml"}), "apply"),
        (Call("DELETE", POD), "delete"),
        (Call("DELETE", "/api/v1/namespaces/a/pods"), "deletecollection"),
        (Call("HEAD", POD), "head"),
    ],
)
def test_call_has_a_verb(call: Call, verb: str) -> None:
    assert verb_of(call) == verb
