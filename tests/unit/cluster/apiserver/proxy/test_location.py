"""What a name and a path with `proxy` in them mean."""

from __future__ import annotations

import pytest

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.meta.request_info import request_info
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.proxy.location import (
    ProxyTarget,
    join_path,
    location_path,
    option_path,
    read_target,
)

ROOT = "/api/v1/namespaces/default/pods/web/proxy"


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("web", ProxyTarget("web")),
        ("web:80", ProxyTarget("web", "80")),
        ("http:web:", ProxyTarget("web")),
        ("https:web:main", ProxyTarget("web", "main", secure=True)),
        (":web:1", ProxyTarget("web", "1")),
    ],
)
def test_a_name_may_have_a_port_and_a_scheme(name: str, target: ProxyTarget) -> None:
    assert read_target(name, "pod") == target


@pytest.mark.parametrize("name", [":80", "ftp:web:80", "http::80", "a:b:c:d"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(StatusError, match=f'invalid service request "{name}"') as refused:
        read_target(name, "service")
    assert refused.value.code == 400


@pytest.mark.parametrize(
    ("path", "option", "location"),
    [
        ("", "", ""),
        ("/", "/", "/"),
        ("/a", "/a", "/a"),
        ("/a/", "/a/", "/a/"),
        ("//a", "/a", "/a"),
        ("/a/../../b/./c", "/a/../../b/./c", "/b/c"),
        ("/a//b/", "/a//b/", "/a/b/"),
    ],
)
def test_a_path_is_clean_and_keeps_its_last_slash(path: str, option: str, location: str) -> None:
    info = request_info(ApiRequest("GET", f"{ROOT}{path}"))
    assert (info.subresource.partition("/")[0], option_path(info)) == ("proxy", option)
    assert location_path(option_path(info)) == location


def test_parts_are_joined_to_one_path() -> None:
    assert join_path("/a/", "/b/../c/") == "/a/c/"
    assert join_path("/a", "/") == "/a/"
    assert join_path("", "/") == "/"
