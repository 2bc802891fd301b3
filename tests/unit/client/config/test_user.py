"""Promises of quintant.client.config.user."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from quintant.client.config.config import Config
from quintant.client.config.user import AuthInfo
from quintant.core.errors import ConfigError
from unit.client.kubeconfig_files import kubeconfig

V1, BETA = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"


def load(path: Path, user: Mapping[str, Any], **cluster: Any) -> AuthInfo:
    file = kubeconfig(path / "config", user=user, cluster=cluster)
    return Config.load(file, environ={}).user


def plugin(**given: Any) -> dict[str, Any]:
    return {"exec": {"command": "login", "apiVersion": BETA, **given}}


def test_token_file_and_key_files_are_found_beside_the_kubeconfig(tmp_path: Path) -> None:
    user = load(
        tmp_path,
        {"tokenFile": "token", "client-certificate": "me.crt", "client-key": "/keys/me.key"},
    )
    assert user.token_file == tmp_path / "token"
    assert user.certificate is not None
    assert user.certificate.path == tmp_path / "me.crt"
    assert user.key is not None
    assert user.key.path == Path("/keys/me.key")


def test_inline_certificate_and_key_are_decoded(tmp_path: Path) -> None:
    user = load(tmp_path, {"client-certificate-data": "Q0VSVA==", "client-key-data": "S0VZ"})
    assert user.certificate is not None
    assert user.certificate.read().reveal() == b"CERT"
    assert user.key is not None
    assert user.key.read().reveal() == b"KEY"


def test_impersonation_is_carried_over(tmp_path: Path) -> None:
    user = load(
        tmp_path,
        {"as": "jo", "as-uid": "7", "as-groups": ["a", "b"], "as-user-extra": {"scope": ["x"]}},
    )
    who = user.impersonate
    assert (who.user, who.uid, who.groups, who.extra) == ("jo", "7", ("a", "b"), {"scope": ("x",)})


def test_plugin_is_described(tmp_path: Path) -> None:
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    other = {"name": "other", "extension": 1}
    user = load(
        tmp_path,
        plugin(
            args=["-a"],
            env=[{"name": "A", "value": "b"}],
            installHint="brew install login",
            provideClusterInfo=True,
        ),
        extensions=[other, extension],
    )
    found = user.plugin
    assert found is not None
    assert (found.command, found.args, found.hint) == ("login", ("-a",), "brew install login")
    assert found.env["A"].reveal() == "b"
    assert (found.provide_cluster_info, found.extension) == (True, {"audience": "x"})


def test_plugin_with_a_slash_is_found_beside_the_kubeconfig(tmp_path: Path) -> None:
    found = load(tmp_path, plugin(command="bin/login")).plugin
    assert found is not None
    assert found.command == str(tmp_path / "bin" / "login")


def test_interactive_mode_has_a_default_only_before_v1(tmp_path: Path) -> None:
    found = load(tmp_path, plugin()).plugin
    assert found is not None
    assert found.interactive == "IfAvailable"
    with pytest.raises(ConfigError, match=r"exec\.interactiveMode"):
        load(tmp_path, plugin(apiVersion=V1))


@pytest.mark.parametrize(
    ("user", "field"),
    [
        ({"client-certificate": "a"}, "client-key"),
        ({"client-key": "a"}, "client-certificate"),
        ({"client-key-data": "%"}, "client-key-data"),
        ({"as-groups": ["a"]}, "as"),
        ({"auth-provider": {"name": "gcp"}}, "auth-provider"),
        (plugin(apiVersion="client.authentication.k8s.io/v1alpha1"), "exec.apiVersion"),
        (plugin(interactiveMode="Sometimes"), "exec.interactiveMode"),
        (plugin(command=""), "exec.command"),
    ],
)
def test_user_that_makes_no_sense_is_refused_by_field(
    tmp_path: Path, user: dict[str, Any], field: str
) -> None:
    with pytest.raises(ConfigError, match=f'cannot use {field} of user "main"'):
        load(tmp_path, user)
