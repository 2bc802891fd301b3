from __future__ import annotations

import pytest

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.meta.request_info import RequestInfo, request_info


def routed(method: str, path: str, **query: str) -> RequestInfo:
    return request_info(ApiRequest(method, path, query))


@pytest.mark.parametrize(
    ("method", "path", "verb"),
    [
        ("GET", "/api/v1/pods", "list"),
        ("GET", "/api/v1/namespaces/a/pods/b", "get"),
        ("POST", "/api/v1/namespaces/a/pods", "create"),
        ("PUT", "/api/v1/namespaces/a/pods/b", "update"),
        ("PATCH", "/api/v1/namespaces/a/pods/b", "patch"),
        ("DELETE", "/api/v1/namespaces/a/pods/b", "delete"),
        ("DELETE", "/api/v1/namespaces/a/pods", "deletecollection"),
        ("GET", "/api/v1/watch/pods", "watch"),
        ("HEAD", "/api/v1/pods", "list"),
    ],
)
def test_method_and_path_make_the_verb(method: str, path: str, verb: str) -> None:
    assert routed(method, path).verb == verb


def test_a_query_makes_a_list_a_watch_but_not_a_get() -> None:
    assert routed("GET", "/api/v1/pods", watch="true").verb == "watch"
    assert routed("GET", "/api/v1/pods", watch="0").verb == "list"
    assert routed("GET", "/api/v1/namespaces/a/pods/b", watch="1").verb == "get"


def test_groups_namespaces_names_and_subresources_are_found() -> None:
    found = routed("GET", "/apis/apps/v1/namespaces/a/deployments/b/status")
    assert (found.group, found.version, found.resource) == ("apps", "v1", "deployments")
    assert (found.namespace, found.name, found.subresource) == ("a", "b", "status")
    assert found.full_resource == "deployments/status"


def test_what_follows_a_proxy_is_no_part_of_what_a_role_grants() -> None:
    found = routed("GET", "/api/v1/namespaces/a/pods/b:8080/proxy/metrics")
    assert (found.name, found.full_resource) == ("b:8080", "pods/proxy")


def test_a_namespace_is_in_itself() -> None:
    found = routed("GET", "/api/v1/namespaces/a")
    assert (found.resource, found.namespace, found.name) == ("namespaces", "a", "a")
    status = routed("PUT", "/api/v1/namespaces/a/status")
    assert (status.resource, status.name, status.subresource) == ("namespaces", "a", "status")
    inside = routed("GET", "/api/v1/namespaces/a/pods")
    assert (inside.resource, inside.namespace, inside.name) == ("pods", "a", "")


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/version", "/api", "/api/v1", "/apis/apps", "/apis/apps/v1"),
        *("//", "/api//v1/pods", "/api/v1//pods", "/api/v1/pods//a", "/apis/apps//v1/deployments"),
    ],
)
def test_other_paths_are_about_themselves(path: str) -> None:
    assert routed("GET", path) == RequestInfo("get", path)
