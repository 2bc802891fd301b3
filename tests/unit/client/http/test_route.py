"""Promises of quintant.client.http.route."""

from __future__ import annotations

import pytest

from quintant.client.config.config import Config
from quintant.client.http.route import Hop, ServerRoute
from quintant.keys.sensitive import Sensitive

PROXY = Sensitive("http://me:s%20esame@proxy:3128")


@pytest.mark.parametrize(
    ("server", "hop", "authority", "prefix"),
    [
        ("https://api.test", Hop("api.test", 443, True), "api.test", ""),
        ("http://api.test:8001/", Hop("api.test", 8001, False), "api.test:8001", ""),
        ("https://[::1]:6443", Hop("::1", 6443, True), "[::1]:6443", ""),
        ("https://r.test/k8s/c-1", Hop("r.test", 443, True), "r.test", "/k8s/c-1"),
    ],
)
def test_direct_route_goes_to_the_server(
    server: str, hop: Hop, authority: str, prefix: str
) -> None:
    route = ServerRoute.from_config(Config(server))
    assert (route.first_hop, route.authority, route.prefix) == (hop, authority, prefix)
    assert route.header_lines.reveal() == f"Host: {authority}\r\n"
    assert not route.connect_request


def test_proxy_is_asked_for_a_tunnel_to_a_server_with_tls() -> None:
    route = ServerRoute.from_config(Config("https://[::1]/base", proxy=PROXY))
    assert route.first_hop == Hop("proxy", 3128, False)
    assert route.connect_request == (
        b"CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n"
        b"Proxy-Authorization: Basic bWU6cyBlc2FtZQ==\r\n\r\n"
    )
    assert route.prefix == "/base"
    assert route.header_lines.reveal() == "Host: [::1]\r\n"


def test_proxy_is_given_the_whole_target_of_a_server_without_tls() -> None:
    route = ServerRoute.from_config(Config("http://api.test:8001/base", proxy=PROXY))
    assert route.first_hop == Hop("proxy", 3128, False)
    assert not route.connect_request
    assert route.prefix == "http://api.test:8001/base"
    assert "Proxy-Authorization: Basic bWU6cyBlc2FtZQ==\r\n" in route.header_lines.reveal()


def test_password_of_a_proxy_is_not_shown() -> None:
    shown = repr(ServerRoute.from_config(Config("http://api.test", proxy=PROXY)))
    assert "esame" not in shown
    assert "bWU6" not in shown
