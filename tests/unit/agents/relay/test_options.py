from __future__ import annotations

import pytest

from quintant.agents.relay.options import TrustedProxies, parse


def test_a_relay_without_options_is_for_this_machine() -> None:
    options = parse([], {})
    assert options.listen == "127.0.0.1"
    assert options.domains == ("relay.localhost",)
    assert options.tokens is None


@pytest.mark.parametrize(
    "line",
    [
        ["--listen", "0.0.0.0"],
        ["--auth", "token"],
        ["--tls-cert", "tls.crt"],
        ["--trusted-proxy", "everybody"],
    ],
)
def test_what_would_be_unsafe_or_half_ends_the_program(line: list[str]) -> None:
    with pytest.raises(SystemExit):
        parse(line, {})


def test_who_insists_may_listen_to_the_world() -> None:
    assert parse(["--listen", "0.0.0.0", "--force"], {}).listen == "0.0.0.0"


def test_only_named_networks_are_trusted() -> None:
    trust = TrustedProxies(("10.0.0.0/8", "::1/128"))
    assert "10.1.2.3" in trust
    assert "::1" in trust
    assert "192.0.2.1" not in trust
    assert "10.1.2.3" not in TrustedProxies()
