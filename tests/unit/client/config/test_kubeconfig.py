"""Promises of quintant.client.config.kubeconfig."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.client.config.kubeconfig import merge_kubeconfigs, read_kubeconfig
from quintant.core.errors import ConfigError
from unit.client.kubeconfig_files import kubeconfig


def test_entry_remembers_its_file_and_resolves_paths_from_there(tmp_path: Path) -> None:
    origin = read_kubeconfig(kubeconfig(tmp_path / "a" / "config")).users["main"]
    assert origin.resolve("keys/me.pem") == tmp_path / "a" / "keys" / "me.pem"
    assert origin.resolve("/etc/me.pem") == Path("/etc/me.pem")


def test_first_file_defines_an_entry_whole(tmp_path: Path) -> None:
    first = kubeconfig(tmp_path / "1", cluster={"server": "https://one"})
    second = kubeconfig(tmp_path / "2", cluster={"server": "https://two", "tls-server-name": "two"})
    cluster = (
        merge_kubeconfigs([read_kubeconfig(first), read_kubeconfig(second)]).clusters["main"].entry
    )
    assert (cluster.server, cluster.tls_server_name) == ("https://one", "")


def test_first_file_with_a_current_context_sets_it(tmp_path: Path) -> None:
    files = [
        kubeconfig(tmp_path / "1", name="one", current=""),
        kubeconfig(tmp_path / "2", name="two"),
        kubeconfig(tmp_path / "3", name="three"),
    ]
    merged = merge_kubeconfigs(map(read_kubeconfig, files))
    assert merged.current == "two"
    assert sorted(merged.contexts) == ["one", "three", "two"]


def test_empty_file_and_empty_lists_are_no_entries(tmp_path: Path) -> None:
    for text in ("", "clusters:\nusers: null\ncontexts: []\n", "preferences: {}\nodd: 1\n"):
        path = tmp_path / "config"
        path.write_text(text)
        assert not read_kubeconfig(path).clusters


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("clusters: 3", "$.clusters"),
        ("clusters: [{name: a, cluster: {server: 3}}]", "$.clusters[0].cluster.server"),
        ("users: [{name: a, user: {token: 12345}}]", "$.users[0].user.token"),
        ("users: [{user: {}}]", "name"),
        ("users: [{name: a}, {name: a}]", 'the name "a" is given twice'),
        ("- a", "object"),
    ],
)
def test_malformed_file_is_refused_naming_file_and_field(
    tmp_path: Path, text: str, because: str
) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(ConfigError, match="cannot use kubeconfig") as caught:
        read_kubeconfig(path)
    assert str(path) in caught.value.what
    assert because in caught.value.because
    assert "12345" not in str(caught.value)


def test_file_that_is_no_yaml_is_refused_naming_the_line(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("clusters: [")
    with pytest.raises(ConfigError, match=r"cannot read kubeconfig .*config\nbecause: line 2"):
        read_kubeconfig(path)


def test_missing_file_is_refused_naming_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        read_kubeconfig(tmp_path / "config")


def test_secrets_do_not_show_in_a_repr(tmp_path: Path) -> None:
    user = {
        "token": "sesame-token",
        "password": "sesame-password",
        "client-key-data": "c2VzYW1l",
        "exec": {"command": "x", "env": [{"name": "A", "value": "sesame-env"}]},
    }
    shown = repr(read_kubeconfig(kubeconfig(tmp_path / "config", user=user)))
    assert "sesame" not in shown
    assert "c2VzYW1l" not in shown
