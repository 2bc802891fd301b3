"""Secrets name the hosts that may see them."""

from __future__ import annotations

import pytest

from quintant.api.core import Secret
from quintant.core.object import ObjectMeta
from quintant.core.secret_hosts import annotate_command, named_hosts, url_host


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://IM.example.com/path", "im.example.com"),
        ("https://im.example.com:443", "im.example.com"),
        ("http://im.example.com:443", "im.example.com:443"),
        ("http://im:80", "im"),
        ("http://im:8800/x", "im:8800"),
        ("wss://relay:443/relay", "relay"),
        ("http://[::1]:8800", "[::1]:8800"),
        ("http://[::1", ""),
        ("http://im:99999", ""),
        ("", ""),
        ("http://a,im.example.com/", ""),
        ("http://$(id)/", ""),
        ("http://a;b/", ""),
        ("http://im\u2024example/", ""),
    ],
)
def test_host_of_a_url(url: str, host: str) -> None:
    assert url_host(url) == host


def secret(listed: str | None = None) -> Secret:
    annotations = {} if listed is None else {"x/hosts": listed}
    return Secret(metadata=ObjectMeta(name="s", namespace="n", annotations=annotations))


@pytest.mark.parametrize(
    ("listed", "hosts"),
    [(None, set()), ("", set()), (",", set()), ("A:1, b", {"a:1", "b"})],
)
def test_hosts_of_a_secret(listed: str | None, hosts: set[str]) -> None:
    assert named_hosts(secret(listed), "x/hosts") == hosts


def test_command_keeps_those_that_are_named() -> None:
    command = annotate_command(secret("b"), "x/hosts", {"a:1"})
    assert command == "kubectl annotate secret -n n s x/hosts=a:1,b --overwrite"


def test_command_runs_nothing_that_a_list_holds() -> None:
    command = annotate_command(secret("$(id)"), "x/hosts", {"a"})
    assert command == "kubectl annotate secret -n n s x/hosts='$(id),a' --overwrite"
