"""A kubeconfig in all the shapes in which providers give one, and those that are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from quintant.core.yaml import load
from quintant.operators.infra.observed.kubeconfig import (
    NoKubeconfig,
    UsableKubeconfig,
    kubeconfig_of,
)

TEXT = """apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "https://SERVER"}}]
users: [{name: a, user: {token: "s3cret"}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
"""
GOOD = TEXT.replace("SERVER", "made.example.com:6443")
PLAIN = load(GOOD)


@pytest.mark.parametrize(
    "output",
    [GOOD, json.dumps(PLAIN), PLAIN, {"msg": GOOD}, {"msg": PLAIN}, json.dumps({"msg": GOOD}),
     json.dumps({"msg": PLAIN}), json.dumps({"msg": json.dumps(PLAIN)})],
)  # fmt: skip
def test_every_shape_is_unwrapped(output: Any) -> None:
    found = kubeconfig_of({"kubeconfig": output})
    assert isinstance(found, UsableKubeconfig)
    assert found.server == "https://made.example.com:6443"
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize(
    "output",
    [None, "", {}, {"msg": None}, TEXT.replace("SERVER", "None:6443"),
     TEXT.replace("SERVER", ":6443"),
     TEXT.replace("SERVER", "null"), "apiVersion: v1\nkind: Config\nclusters: []\n"],
)  # fmt: skip
def test_what_may_still_come_is_waited_for(output: Any) -> None:
    found = kubeconfig_of({"kubeconfig": output})
    assert isinstance(found, NoKubeconfig)
    assert found.missing


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


USER = 'user: {token: "s3cret"}'
REFUSED = {
    "exec": changed(USER, "user: {exec: {command: rm, apiVersion: v1}}"),
    "auth-provider": changed(USER, "user: {auth-provider: {name: gcp}}"),
    "a file of a key": changed(USER, "user: {client-key: /etc/passwd}"),
    "a file of a token": changed(USER, "user: {tokenFile: /etc/passwd}"),
    "a file of an authority": changed('6443"}', '6443", certificate-authority: /etc/passwd}'),
    "a proxy": changed('6443"}', '6443", proxy-url: "http://evil"}'),
    "no check of certificates": changed('6443"}', '6443", insecure-skip-tls-verify: true}'),
    "two contexts": GOOD.replace("contexts: [", "contexts: [{name: b, context: {}}, "),
    "http": changed("https://", "http://"),
    "two mebibytes": GOOD + "#" + "x" * 2 * 1024 * 1024,
    "a metadata address": changed("made.example.com:6443", "169.254.169.254"),
    "a metadata address in disguise": changed("made.example.com:6443", "0xa9fea9fe"),
    "a list": [1],
    "a number": 5,
    "no YAML": "{: [",
}


@pytest.mark.parametrize("name", REFUSED)
def test_kubeconfig_is_refused_with(name: str) -> None:
    found = kubeconfig_of({"kubeconfig": REFUSED[name]})
    assert isinstance(found, NoKubeconfig)
    assert not found.missing
    assert "s3cret" not in found.message
    assert "/etc/passwd" not in found.message


def test_insecure_tls_is_taken_if_the_cluster_says_so() -> None:
    text = REFUSED["no check of certificates"]
    assert isinstance(kubeconfig_of({"kubeconfig": text}, insecure=True), UsableKubeconfig)
