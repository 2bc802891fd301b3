from __future__ import annotations

import base64
from typing import Any

import pytest

from quintant.api.admission import MatchCondition, ServiceReference
from quintant.api.core import Namespace
from quintant.api.meta import LabelSelector
from quintant.core.codec import encode, to_plain
from quintant.core.errors import ConfigError
from quintant.core.object import Object
from quintant.runtime.webhook import Admission, Spoke, WebhookDeclarations, WebhookSettings
from unit.runtime.webhook.kinds import Gate

CA = b"-----BEGIN CERTIFICATE-----\n"
SERVICE = ServiceReference(name="hooks", namespace="system")


async def allow(_old: Object | None, _new: Object | None, _: Admission) -> None:
    """Anything goes."""


async def keep(new: Any, _: Admission) -> Any:
    return new


def declared() -> WebhookDeclarations:
    webhooks = WebhookDeclarations("gates")
    webhooks.validating(Namespace, allow, operations=("DELETE",))
    webhooks.validating(
        Gate,
        allow,
        settings=WebhookSettings(
            failure_policy="Ignore",
            timeout_seconds=5,
            namespace_selector=LabelSelector(match_labels={"a": "b"}),
            match_conditions=(MatchCondition(name="big", expression="true"),),
        ),
    )
    webhooks.mutating(Gate, keep, settings=WebhookSettings(reinvocation_policy="IfNeeded"))
    return webhooks


def test_an_api_server_is_told_everything_that_was_declared() -> None:
    mutating, validating = (
        to_plain(each) for each in declared().configurations(SERVICE, ca_bundle=CA)
    )
    assert mutating["metadata"] == {"name": "gates-mutating-webhook-configuration"}
    assert mutating["kind"] == "MutatingWebhookConfiguration"
    assert mutating["webhooks"] == [
        {
            "name": "mgate-v1.kb.io",
            "clientConfig": {
                "service": {
                    "name": "hooks",
                    "namespace": "system",
                    "path": "/mutate-gates-example-com-v1-gate",
                },
                "caBundle": base64.b64encode(CA).decode(),
            },
            "rules": [
                {
                    "operations": ["CREATE", "UPDATE"],
                    "apiGroups": ["gates.example.com"],
                    "apiVersions": ["v1"],
                    "resources": ["gates"],
                    "scope": "Namespaced",
                }
            ],
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "sideEffects": "None",
            "timeoutSeconds": 10,
            "admissionReviewVersions": ["v1"],
            "reinvocationPolicy": "IfNeeded",
        }
    ]
    gate, namespace = sorted(validating["webhooks"], key=lambda each: str(each["name"]))
    assert namespace["rules"][0]["scope"] == "Cluster"
    assert namespace["rules"][0]["apiGroups"] == [""]
    assert namespace["rules"][0]["operations"] == ["DELETE"]
    assert gate["failurePolicy"] == "Ignore"
    assert gate["timeoutSeconds"] == 5
    assert gate["namespaceSelector"] == {"matchLabels": {"a": "b"}}
    assert gate["matchConditions"] == [{"name": "big", "expression": "true"}]


def test_the_same_declarations_give_the_same_bytes() -> None:
    first, second = (encode(declared().configurations(SERVICE, ca_bundle=CA)) for _ in range(2))
    assert first == second


def test_a_server_may_be_at_a_url() -> None:
    _, validating = declared().configurations("https://127.0.0.1:9443/", ca_bundle=CA)
    assert {hook.client_config.url for hook in validating.webhooks} == {
        "https://127.0.0.1:9443/validate--v1-namespace",
        "https://127.0.0.1:9443/validate-gates-example-com-v1-gate",
    }


def test_a_bundle_that_others_fill_in_is_left_out() -> None:
    mutating, _ = declared().configurations(SERVICE)
    assert "caBundle" not in to_plain(mutating)["webhooks"][0]["clientConfig"]


def test_a_url_without_tls_is_refused() -> None:
    with pytest.raises(ConfigError, match="over https:// only"):
        declared().configurations("http://127.0.0.1:9443")


def test_where_nothing_is_declared_there_is_nothing_to_configure() -> None:
    assert WebhookDeclarations("none").configurations(SERVICE) == ()


def test_a_definition_is_told_where_its_versions_are_converted() -> None:
    webhooks = WebhookDeclarations("gates")
    webhooks.converting(Gate, {"v1alpha1": Spoke(dict, dict)})
    assert encode(webhooks.conversion("https://127.0.0.1:1", ca_bundle=b"x")) == (
        b'{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://127.0.0.1:1/convert",'
        b'"caBundle":"eA=="},"conversionReviewVersions":["v1"]}}'
    )


def test_a_program_for_some_namespaces_is_asked_about_no_others() -> None:
    mutating, validating = declared().configurations(SERVICE, namespaces=("a", "b"))
    (amended,) = to_plain(mutating)["webhooks"]
    expected = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["a", "b"]}
    assert amended["namespaceSelector"] == {"matchExpressions": [expected]}
    gate, namespace = sorted(to_plain(validating)["webhooks"], key=lambda each: str(each["name"]))
    assert gate["namespaceSelector"] == {"matchLabels": {"a": "b"}}, "a hook's own selector wins"
    assert "namespaceSelector" not in namespace, "a kind without a namespace is in none"
