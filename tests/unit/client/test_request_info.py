"""Promises of quintant.client.request_info."""

from __future__ import annotations

import pytest

from quintant.client.request_info import ResourcePath, resource_path, verb_of
from quintant.client.transport import ApiRequest

POD = "/api/v1/namespaces/a/pods/web"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/api/v1/pods", ResourcePath("", "v1", "", "pods")),
        (POD, ResourcePath("", "v1", "a", "pods", "web")),
        (f"{POD}/log", ResourcePath("", "v1", "a", "pods", "web", "log")),
        ("/api/v1/namespaces", ResourcePath("", "v1", "", "namespaces")),
        ("/api/v1/namespaces/a", ResourcePath("", "v1", "", "namespaces", "a")),
        ("/api/v1/namespaces/a/status", ResourcePath("", "v1", "", "namespaces", "a", "status")),
        ("/apis/apps/v1/deployments", ResourcePath("apps", "v1", "", "deployments")),
        (
            "/apis/x.dev/v1beta1/namespaces/a/things/b/scale",
            ResourcePath("x.dev", "v1beta1", "a", "things", "b", "scale"),
        ),
        ("/apis/apps/v1", ResourcePath("apps", "v1")),
        ("/apis/apps", ResourcePath("apps")),
        ("/api", ResourcePath()),
        ("/apis", ResourcePath()),
        ("/healthz", ResourcePath()),
        ("/", ResourcePath()),
    ],
)
def test_path_names_a_resource(path: str, target: ResourcePath) -> None:
    assert resource_path(path) == target


@pytest.mark.parametrize(
    ("call", "verb"),
    [
        (ApiRequest("GET", POD), "get"),
        (ApiRequest("GET", "/api/v1/pods"), "list"),
        (ApiRequest("GET", "/api/v1/pods", {"watch": "1"}), "watch"),
        (ApiRequest("GET", "/api/v1/pods", {"watch": "true"}), "watch"),
        (ApiRequest("GET", "/api/v1/pods", {"watch": "True"}), "watch"),
        (ApiRequest("GET", "/api/v1/pods", {"watch": "false"}), "list"),
        (ApiRequest("POST", "/api/v1/namespaces/a/pods"), "create"),
        (ApiRequest("PUT", POD), "update"),
        (
            ApiRequest("PATCH", POD, headers={"content-type": "application/merge-patch+json"}),
            "patch",
        ),
        (
            ApiRequest("PATCH", POD, headers={"content-type": "application/apply-patch+yaml"}),
            "apply",
        ),
        (ApiRequest("DELETE", POD), "delete"),
        (ApiRequest("DELETE", "/api/v1/namespaces/a/pods"), "deletecollection"),
        (ApiRequest("HEAD", POD), "head"),
    ],
)
def test_call_has_a_verb(call: ApiRequest, verb: str) -> None:
    assert verb_of(call) == verb
