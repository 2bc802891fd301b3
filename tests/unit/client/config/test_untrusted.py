"""Promises of quintant.client.config.untrusted: a kubeconfig that somebody else wrote."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from quintant.client.config.config import Config
from quintant.client.config.untrusted import LONGEST
from quintant.core.errors import ConfigError
from unit.client.kubeconfig_files import kubeconfig

NOTHING: dict[str, str] = {}
SECRET = "hunter2-is-secret"
SOURCE = "Secret shop/eu-kubeconfig"


@pytest.fixture
def text(tmp_path: Path) -> Any:
    """Writes a kubeconfig with one context, as bytes."""

    def written(**parts: Any) -> bytes:
        return kubeconfig(tmp_path / "config", **parts).read_bytes()

    return written


def read(data: bytes, **more: Any) -> Config:
    return Config.from_bytes(data, source=SOURCE, environ=NOTHING, **more)


def test_server_authority_and_token_are_taken_from_the_text(text: Any) -> None:
    authority = base64.b64encode(b"PEM").decode()
    config = read(
        text(
            cluster={
                "server": "https://eu.example.com:6443",
                "certificate-authority-data": authority,
                "tls-server-name": "api",
            },
            user={"token": SECRET},
            context={"namespace": "shop"},
        )
    )
    assert (config.server, config.namespace) == ("https://eu.example.com:6443", "shop")
    assert config.trust.authority is not None
    assert config.trust.authority.read().reveal() == b"PEM"
    assert config.trust.server_name == "api"
    assert config.user.token.reveal() == SECRET
    assert SECRET not in repr(config)
    assert config.untrusted


@pytest.mark.parametrize(
    ("user", "field"),
    [
        ({"exec": {"command": "sh", "apiVersion": "x"}}, "exec"),
        ({"auth-provider": {"name": "gcp"}}, "auth-provider"),
        ({"exec": {"command": "sh"}, "auth-provider": {"name": "gcp"}}, "exec"),
        ({"tokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token"}, "tokenFile"),
        ({"token": SECRET, "tokenFile": "/etc/shadow"}, "tokenFile"),
        ({"client-certificate": "/a", "client-key-data": "YQ=="}, "client-certificate"),
        ({"client-key": "/a", "client-certificate-data": "YQ=="}, "client-key"),
    ],
)
def test_user_who_wants_a_program_or_a_file_is_refused(
    text: Any, user: dict[str, Any], field: str
) -> None:
    with pytest.raises(ConfigError, match=f'cannot use {field} of user "main"') as raised:
        read(text(user=user))
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    ("cluster", "field"),
    [
        ({"certificate-authority": "/etc/ssl/ca.pem"}, "certificate-authority"),
        ({"proxy-url": f"http://me:{SECRET}@proxy:3128"}, "proxy-url"),
        ({"insecure-skip-tls-verify": True}, "insecure-skip-tls-verify"),
        ({"server": "http://plain.example.com"}, "server"),
        ({"server": "eu.example.com:6443"}, "server"),
        ({"server": f"https://me:{SECRET}@eu.example.com"}, "server"),
        ({"server": "https://eu.example.com/?a=b"}, "server"),
        ({"server": "https://[::1"}, "server"),
        ({"server": ""}, "server"),
        ({"server": "https://169.254.169.254"}, "server"),
        ({"server": "https://169.254.169.254:80/latest"}, "server"),
        ({"server": "https://[fe80::1]"}, "server"),
        ({"server": "https://[fe80::1%25eth0]"}, "server"),
    ],
)
def test_cluster_that_is_more_than_a_server_is_refused(
    text: Any, cluster: dict[str, Any], field: str
) -> None:
    with pytest.raises(ConfigError, match=f'cannot use {field} of cluster "main" in {SOURCE}') as e:
        read(text(cluster=cluster))
    assert SECRET not in str(e.value)


def test_insecure_servers_are_taken_when_asked_for(text: Any) -> None:
    assert read(text(cluster={"server": "http://plain"}), insecure=True).server == "http://plain"
    skipped = text(cluster={"insecure-skip-tls-verify": True})
    assert read(skipped, insecure=True).trust.insecure
    with pytest.raises(ConfigError, match="link-local"):
        read(text(cluster={"server": "http://169.254.169.254"}), insecure=True)


def test_several_contexts_need_a_choice(text: Any) -> None:
    document = json.loads(text())
    document["contexts"].append({"name": "other", "context": {"cluster": "main", "user": "main"}})
    data = json.dumps(document).encode()

    with pytest.raises(ConfigError, match="cannot choose a cluster") as raised:
        read(data)
    assert raised.value.because == "it has 2 contexts: main, other"
    assert read(data, context="other").context == "other"
    with pytest.raises(ConfigError, match='cannot use context "third"'):
        read(data, context="third")


def test_only_context_needs_no_current_context(text: Any) -> None:
    assert read(text(current="")).context == "main"


def test_kubeconfig_of_two_mebibytes_is_refused_unread(text: Any) -> None:
    data = text() + b" " * (2 * 1024 * 1024)
    with pytest.raises(ConfigError, match=SOURCE) as raised:
        read(data)
    assert f"at most {LONGEST} are read" in raised.value.because
    assert "--minify" in raised.value.hint


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"- a list",
        b"just a word",
        f"token: [{SECRET}".encode(),
        f"{SECRET}: &a [*a]".encode(),
        f"users:\n- name: u\n  user:\n    token: {{a: {SECRET}}}".encode(),
        json.dumps({"contexts": [{"name": "a\nb: forged log line", "context": {}}]}).encode(),
        json.dumps({"contexts": [{"name": "a" * 300, "context": {}}]}).encode(),
        b"a: &a [1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (n + 1, n + 1, b",".join([b"*%c" % n] * 8)) for n in b"bcdefghij"
        ),
    ],
    ids=["empty", "no text", "list", "word", "cut", "loop", "token", "name", "long", "bomb"],
)
def test_text_that_is_no_kubeconfig_is_told_without_its_content(data: bytes) -> None:
    with pytest.raises(ConfigError, match=SOURCE) as raised:
        read(data)
    assert SECRET not in str(raised.value)
    assert "forged" not in str(raised.value)
    assert len(str(raised.value)) < 1000
