"""Promises of quintant.client.config.proxy."""

from __future__ import annotations

import pytest

from quintant.client.config.proxy import choose_proxy
from quintant.core.errors import ConfigError

SERVER = "https://api.test:6443"
PROXY = {"HTTPS_PROXY": "http://proxy:3128"}


def chosen(server: str, environ: dict[str, str], given: str = "") -> str | None:
    proxy = choose_proxy(server, given, environ)
    return proxy.reveal() if proxy else None


def test_proxy_url_of_the_kubeconfig_wins() -> None:
    assert chosen(SERVER, PROXY, "https://mine:8443") == "https://mine:8443"


def test_variables_are_read_by_scheme_in_either_case() -> None:
    assert chosen(SERVER, PROXY) == "http://proxy:3128"
    assert chosen(SERVER, {"https_proxy": "proxy:3128"}) == "http://proxy:3128"
    assert chosen("http://api.test", PROXY) is None
    assert chosen("http://api.test", {"HTTP_PROXY": "http://p"}) == "http://p"
    assert chosen(SERVER, {}) is None


@pytest.mark.parametrize("server", ["https://localhost:1", "https://127.0.0.9", "https://[::1]:1"])
def test_this_machine_is_reached_directly(server: str) -> None:
    assert chosen(server, PROXY) is None
    assert chosen(server, PROXY, "http://mine") == "http://mine"


@pytest.mark.parametrize(
    ("excepted", "server"),
    [
        ("*", SERVER),
        ("api.test", SERVER),
        ("test", SERVER),
        (".test", SERVER),
        ("*.test", SERVER),
        ("other, api.test:6443", SERVER),
        ("10.0.0.0/8", "https://10.1.2.3"),
        ("10.1.2.3", "https://10.1.2.3:443"),
        ("fd00::/8", "https://[fd00::1]:443"),
    ],
)
def test_no_proxy_names_exceptions(excepted: str, server: str) -> None:
    assert chosen(server, {**PROXY, "NO_PROXY": excepted}) is None


@pytest.mark.parametrize("excepted", ["", "est", "api.test:443", "10.0.0.0/8", "other"])
def test_other_servers_are_no_exceptions(excepted: str) -> None:
    assert chosen(SERVER, {**PROXY, "no_proxy": excepted}) == "http://proxy:3128"


@pytest.mark.parametrize("given", ["socks5://me:sesame@proxy:1080", "ftp://x", "http://"])
def test_proxy_we_cannot_speak_to_is_refused_without_its_password(given: str) -> None:
    with pytest.raises(ConfigError, match="SOCKS is not supported") as caught:
        chosen(SERVER, {}, given)
    assert "sesame" not in str(caught.value)
