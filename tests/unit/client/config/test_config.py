"""Promises of quintant.client.config.config."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quintant.client.config.config import Config
from quintant.core.errors import ConfigError
from unit.client.kubeconfig_files import kubeconfig

NOTHING: dict[str, str] = {}


def mount(path: Path) -> Path:
    path.mkdir()
    for name, text in {"token": "t0k3n", "ca.crt": "PEM", "namespace": "prod\n"}.items():
        (path / name).write_text(text)
    return path


def test_kubeconfig_variable_comes_before_the_home_directory(tmp_path: Path) -> None:
    kubeconfig(tmp_path / ".kube" / "config", cluster={"server": "https://home"})
    named = kubeconfig(tmp_path / "named", cluster={"server": "https://named"})
    home = {"HOME": str(tmp_path)}
    assert Config.discover(environ=home).server == "https://home"
    assert Config.discover(environ={**home, "KUBECONFIG": str(named)}).server == "https://named"


def test_kubeconfig_variable_lists_files_of_which_some_may_be_missing(tmp_path: Path) -> None:
    one = kubeconfig(tmp_path / "1", name="one", cluster={"server": "https://one"})
    two = kubeconfig(tmp_path / "2", name="two", cluster={"server": "https://two"})
    listed = os.pathsep.join(["", str(tmp_path / "missing"), str(one), str(two), str(one)])
    environ = {"KUBECONFIG": listed}
    assert Config.discover(environ=environ).server == "https://one"
    assert Config.discover("two", environ=environ).server == "https://two"


def test_service_account_is_used_in_a_pod_without_kubeconfig(tmp_path: Path) -> None:
    environ = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    config = Config.in_cluster(mount=mount(tmp_path / "account"), environ=environ)
    assert (config.server, config.namespace) == ("https://10.0.0.1:443", "prod")
    assert config.user.token_file == tmp_path / "account" / "token"
    assert config.trust.authority is not None
    assert config.trust.authority.path == tmp_path / "account" / "ca.crt"


def test_service_account_knows_ipv6_and_the_pods_own_namespace(tmp_path: Path) -> None:
    environ = {
        "KUBERNETES_SERVICE_HOST": "fd00::1",
        "KUBERNETES_SERVICE_PORT": "443",
        "POD_NAMESPACE": "here",
    }
    account = mount(tmp_path / "account")
    for name in ("ca.crt", "namespace"):
        (account / name).unlink()
    config = Config.in_cluster(mount=account, environ=environ)
    assert (config.server, config.namespace) == ("https://[fd00::1]:443", "here")
    assert config.trust.authority is None
    plain = {**environ, "POD_NAMESPACE": ""}
    assert Config.in_cluster(mount=account, environ=plain).namespace == "default"


def test_discovery_in_a_pod_looks_for_its_service_account(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    with pytest.raises(ConfigError, match="service account"):
        Config.discover(environ=environ)


def test_no_cluster_anywhere_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot find a cluster") as caught:
        Config.discover(environ={"HOME": str(tmp_path)})
    assert str(tmp_path / ".kube" / "config") in caught.value.because
    assert "quintant up" in caught.value.hint


def test_context_gives_cluster_user_and_namespace(tmp_path: Path) -> None:
    path = kubeconfig(
        tmp_path / "config",
        cluster={
            "server": "https://api.test:6443/prefix/",
            "certificate-authority": "ca.pem",
            "tls-server-name": "inner",
            "proxy-url": "http://proxy:3128",
        },
        user={"token": "t0k3n", "as": "root", "as-groups": ["admins"]},
        context={"namespace": "team"},
    )
    config = Config.load(path, environ=NOTHING)
    assert config.server == "https://api.test:6443/prefix"
    assert (config.namespace, config.context) == ("team", "main")
    assert config.trust.server_name == "inner"
    assert config.trust.authority is not None
    assert config.trust.authority.path == tmp_path / "ca.pem"
    assert config.proxy is not None
    assert config.proxy.reveal() == "http://proxy:3128"
    assert config.user.token.reveal() == "t0k3n"
    assert config.user.impersonate.groups == ("admins",)


def test_inline_authority_wins_over_a_file(tmp_path: Path) -> None:
    cluster = {"certificate-authority": "ca.pem", "certificate-authority-data": "UEV\nN"}
    config = Config.load(kubeconfig(tmp_path / "config", cluster=cluster), environ=NOTHING)
    assert config.trust.authority is not None
    assert config.trust.authority.read().reveal() == b"PEM"
    assert config.trust.authority.path is None


def test_authority_that_is_not_base64_is_named(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", cluster={"certificate-authority-data": "%%%"})
    with pytest.raises(ConfigError, match='certificate-authority-data of cluster "main"'):
        Config.load(path, environ=NOTHING)


@pytest.mark.parametrize("server", ["", "ftp://x", "https://", "https://x:port", "https://x:0"])
def test_server_that_is_no_address_is_named(tmp_path: Path, server: str) -> None:
    path = kubeconfig(tmp_path / "config", cluster={"server": server})
    with pytest.raises(ConfigError, match='server of cluster "main"'):
        Config.load(path, environ=NOTHING)


def test_server_without_scheme_is_plain_http(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", cluster={"server": "localhost:8080"})
    assert Config.load(path, environ=NOTHING).server == "http://localhost:8080"


def test_unknown_context_lists_those_that_are(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config")
    with pytest.raises(ConfigError, match='cannot use context "other"') as caught:
        Config.load(path, context="other", environ=NOTHING)
    assert "main" in caught.value.hint


def test_file_without_current_context_asks_for_one(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", current="")
    with pytest.raises(ConfigError, match="current-context is not set"):
        Config.load(path, environ=NOTHING)


@pytest.mark.parametrize(
    ("context", "because"),
    [({"cluster": "gone"}, 'cluster "gone" is not defined'), ({"user": ""}, "names no user")],
)
def test_context_that_points_nowhere_is_refused(
    tmp_path: Path, context: dict[str, str], because: str
) -> None:
    path = kubeconfig(tmp_path / "config", context=context)
    with pytest.raises(ConfigError, match='cannot use context "main"') as caught:
        Config.load(path, environ=NOTHING)
    assert because in caught.value.because


def test_secrets_do_not_show_in_a_repr(tmp_path: Path) -> None:
    path = kubeconfig(
        tmp_path / "config",
        cluster={"proxy-url": "http://me:sesame@proxy"},
        user={"token": "sesame", "password": "sesame", "username": "me"},
    )
    assert "sesame" not in repr(Config.load(path, environ=NOTHING))
