from __future__ import annotations

from pathlib import Path

import pytest

from quintant.agents.tunnel.options import RelayEndpoint, ServiceTarget, parse

LINE = ["expose", "--name", "hello", "--host", "web.default.svc", "--port", "80"]


def test_relays_may_be_repeated_or_joined_by_commas() -> None:
    options = parse([*LINE, "--relay", "wss://a/relay,wss://b/relay", "--relay", "wss://c/r"], {})
    assert [each.url for each in options.relays] == ["wss://a/relay", "wss://b/relay", "wss://c/r"]
    assert [each.name for each in options.relays] == ["a", "b", "c"]


def test_the_operators_variables_are_understood(tmp_path: Path) -> None:
    (tmp_path / "1.crt").write_text("x")
    environ = {
        "PORTAL_RELAYS": '[{"name":"one","url":"wss://a/relay"},{"name":"two","url":"wss://b/"}]',
        "PORTAL_TOKEN_1": "secret",
        "PORTAL_CA_DIR": str(tmp_path),
        "PORTAL_TARGET_TLS": "insecure",
        "PORTAL_GROUP": "uid",
        "POD_UID": "pod",
        "POD_IP": "127.0.3.4",
    }
    options = parse([*LINE, "--relay", "wss://a/relay", "--relay", "wss://b/"], environ)
    assert options.relays == (
        RelayEndpoint("one", "wss://a/relay"),
        RelayEndpoint("two", "wss://b/", "secret", str(tmp_path / "1.crt")),
    )
    assert options.service == ServiceTarget("web.default.svc", 80, "insecure")
    assert (options.group, options.pod, options.admin) == ("uid", "pod", ("127.0.3.4", 9808))
    assert "secret" not in repr(options)


@pytest.mark.parametrize(
    ("line", "environ"),
    [
        (LINE, {}),
        ([*LINE, "--relay", "https://a/"], {}),
        ([*LINE, "--relay", "wss:///relay"], {}),
        ([*LINE, "--relay", "wss://a/"], {"PORTAL_TARGET_TLS": "maybe"}),
        ([*LINE, "--relay", "wss://a/"], {"PORTAL_RELAYS": "{"}),
        ([*LINE, "--relay", "wss://a/", "--admin-addr", "127.0.0.1"], {}),
        ([*LINE, "--relay", "wss://a/", "--admin-addr", "127.0.0.1:x"], {}),
        ([*LINE, "--relay", "wss://a/", "--admin-addr", "127.0.0.1:70000"], {}),
        ([*LINE, "--relay", "wss://a/", "--admin-addr", "::::"], {}),
    ],
)
def test_what_cannot_work_ends_the_program(line: list[str], environ: dict[str, str]) -> None:
    with pytest.raises(SystemExit):
        parse(line, environ)


def test_the_status_is_for_this_machine_unless_there_is_a_pod() -> None:
    line = [*LINE, "--relay", "wss://a/"]
    assert parse(line, {}).admin == ("127.0.0.1", 9808)
    assert parse([*line, "--admin-addr", "0.0.0.0:1"], {}).admin == ("0.0.0.0", 1)
    assert parse(line, {"POD_IP": "fd00::1"}).admin == ("fd00::1", 9808)
    assert parse([*line, "--admin-addr", "[::1]:1"], {}).admin == ("::1", 1)


def test_relays_of_one_host_are_told_apart() -> None:
    urls = ("wss://a.example/relay", "wss://b.example:1/relay", "wss://b.example:2/relay")
    given = parse([*LINE, *(word for url in (*urls, urls[0]) for word in ("--relay", url))], {})
    assert [relay.url for relay in given.relays] == list(urls)
    assert [relay.name for relay in given.relays] == [
        "a.example",
        "b.example:1/relay",
        "b.example:2/relay",
    ]
