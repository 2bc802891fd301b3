"""Addresses of webhooks move from a Service to a URL, and are what they were afterwards."""

from __future__ import annotations

import msgspec
import pytest

from quintant.api.admission import (
    ServiceReference,
    ValidatingWebhook,
    ValidatingWebhookConfiguration,
    WebhookClientConfig,
)
from quintant.api.apiextensions import (
    CustomResourceDefinition,
    CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec,
)
from quintant.cluster.apiserver.patch.json_patch import apply_operations
from quintant.core import codec
from quintant.core.object import ObjectMeta, Opaque, replace
from quintant.runtime.webhook.handover import (
    FORMER_ADDRESS,
    Operation,
    conversion_annotation,
    former_conversion,
    move_operations,
    return_operations,
    with_conversion,
)

SERVICE = WebhookClientConfig(service=ServiceReference(name="hooks", namespace="system"))
URL = WebhookClientConfig(url="https://localhost:9443/validate")
BY_URL = {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://localhost:9443/"}}}
BY_SERVICE = {
    "strategy": "Webhook",
    "webhook": {"clientConfig": {"service": {"name": "hooks", "namespace": "system"}}},
}


def webhooks(*addresses: WebhookClientConfig) -> ValidatingWebhookConfiguration:
    return ValidatingWebhookConfiguration(
        metadata=ObjectMeta(name="gates", resource_version="7"),
        webhooks=tuple(
            ValidatingWebhook(name=f"hook-{number}", client_config=address)
            for number, address in enumerate(addresses)
        ),
    )


def patched(
    stored: ValidatingWebhookConfiguration, operations: list[Operation]
) -> ValidatingWebhookConfiguration:
    changed = apply_operations(msgspec.json.decode(codec.encode(stored)), operations)
    return codec.decode(ValidatingWebhookConfiguration, msgspec.json.encode(changed))


def addresses(stored: ValidatingWebhookConfiguration) -> list[WebhookClientConfig]:
    return [each.client_config for each in stored.webhooks]


def definition(conversion: object = None, former: str = "") -> CustomResourceDefinition:
    names = CustomResourceDefinitionNames(plural="gates", kind="Gate")
    opaque = Opaque.of(conversion) if conversion is not None else None
    spec = CustomResourceDefinitionSpec(
        group="demo.dev", names=names, scope="Namespaced", versions=(), conversion=opaque
    )
    annotations = {FORMER_ADDRESS: former} if former else {}
    return CustomResourceDefinition(
        metadata=ObjectMeta(name="gates.demo.dev", annotations=annotations),
        spec=spec,
    )


def test_webhooks_move_to_a_url_and_back() -> None:
    stored = webhooks(SERVICE, SERVICE)
    moved = patched(stored, move_operations(stored, webhooks(URL, URL)))
    assert addresses(moved) == [URL, URL]

    returned = patched(moved, return_operations(moved))
    assert addresses(returned) == [SERVICE, SERVICE]
    assert FORMER_ADDRESS not in returned.metadata.annotations


def test_only_webhooks_behind_a_service_move() -> None:
    stored = webhooks(SERVICE, URL)
    assert addresses(patched(stored, move_operations(stored, webhooks(URL, URL)))) == [URL, URL]
    assert move_operations(webhooks(URL), webhooks(URL)) == []


def test_webhooks_that_nobody_moved_stay() -> None:
    assert move_operations(webhooks(SERVICE), webhooks(SERVICE)) == []
    assert return_operations(webhooks(SERVICE)) == []


def test_a_move_is_refused_where_somebody_was_faster() -> None:
    operations = move_operations(webhooks(SERVICE), webhooks(URL))
    assert operations[0] == {"op": "test", "path": "/metadata/resourceVersion", "value": "7"}


@pytest.mark.parametrize("nonsense", ["", "{", "[]", '{"hook-0": 5}', '{"hook-0": {"url": "x"}}'])
def test_a_former_address_that_makes_no_sense_moves_nothing(nonsense: str) -> None:
    stored = webhooks(URL)
    metadata = replace(stored.metadata, annotations={FORMER_ADDRESS: nonsense})
    assert return_operations(replace(stored, metadata=metadata)) == []


def test_a_conversion_that_moves_to_a_url_remembers_its_service() -> None:
    moved = with_conversion(definition(BY_SERVICE), Opaque.of(BY_URL))
    assert moved.spec.conversion == Opaque.of(BY_URL)
    assert former_conversion(moved) == Opaque.of(BY_SERVICE)


def test_a_conversion_that_moves_twice_remembers_the_service_still() -> None:
    once = with_conversion(definition(BY_SERVICE), Opaque.of(BY_URL))
    assert former_conversion(with_conversion(once, Opaque.of(BY_URL))) == Opaque.of(BY_SERVICE)


def test_a_conversion_that_is_back_at_its_service_remembers_nothing() -> None:
    moved = with_conversion(definition(BY_SERVICE), Opaque.of(BY_URL))
    returned = with_conversion(moved, Opaque.of(BY_SERVICE))
    assert FORMER_ADDRESS not in returned.metadata.annotations
    assert conversion_annotation(returned, BY_SERVICE) is None


@pytest.mark.parametrize("nonsense", ["", "{", '{"webhook": 1}', '{"webhook": {}}'])
def test_a_former_conversion_that_makes_no_sense_is_none(nonsense: str) -> None:
    assert former_conversion(definition(BY_URL, former=nonsense)) is None
