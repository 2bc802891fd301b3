"""What a configuration says of a webhook."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from quintant.cluster.apiserver.webhooks.configuration import (
    ConfiguredWebhook,
    WebhookService,
    WebhookTarget,
    read_target,
    read_webhooks,
)
from unit.cluster.stub_webhooks import rule

KINDS = {kind.resource.full_name: kind for kind in builtin_kinds()}


def hook(*rules: Any, **more: Any) -> ConfiguredWebhook:
    entry = {
        "name": "a",
        "clientConfig": {"url": "https://h/a"},
        "rules": list(rules),
        "timeoutSeconds": 10,
        "admissionReviewVersions": ["v1"],
        **more,
    }
    (found,) = read_webhooks({"webhooks": [entry]}, mutating=True)
    return found


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (rule("pods"), True),
        (rule("*"), True),
        (rule("*/*", group="*"), True),
        (rule("pods/*"), True),
        (rule("pods/status"), False),
        (rule("pods", "DELETE"), False),
        (rule("pods", "UPDATE CREATE"), True),
        (rule("pods", group="apps"), False),
        (rule("pods", version="v2"), False),
        ({**rule("pods"), "scope": "Cluster"}, False),
        ({**rule("pods"), "scope": "Namespaced"}, True),
    ],
)
def test_rules_cover_operations_on_resources(rules: Any, expected: bool) -> None:
    (found,) = hook(rules).rules
    assert found.covers(KINDS["pods"], "", "CREATE") is expected


@pytest.mark.parametrize(
    ("resources", "expected"),
    [("pods", False), ("*", False), ("pods/*", True), ("*/status", True), ("pods/status", True)],
)
def test_subresources_are_named(resources: str, expected: bool) -> None:
    (found,) = hook(rule(resources)).rules
    assert found.covers(KINDS["pods"], "status", "UPDATE") is expected


def test_namespaces_lie_in_none() -> None:
    (found,) = hook({**rule("namespaces"), "scope": "Cluster"}).rules
    assert found.covers(KINDS["namespaces"], "", "CREATE")


def test_services_have_a_name_and_a_port() -> None:
    bundle = b64encode(b"pem").decode()
    service = {"name": "s", "namespace": "n", "path": "/x"}
    assert read_target({"service": service, "caBundle": bundle}) == WebhookTarget(
        "https://s.n.svc:443/x", b"pem", WebhookService("s", "n", 443)
    )
    assert read_target({"service": {**service, "port": 8443}}).url == "https://s.n.svc:8443/x"


def test_the_first_review_that_is_known_is_spoken() -> None:
    assert hook(admissionReviewVersions=["v9", "v1beta1", "v1"]).review == "v1beta1"
    assert hook(admissionReviewVersions=["v9"]).review == ""
