"""What an API server must know, so that it calls our webhooks: pure functions of declarations.

The same declarations give the same objects, field by field, in the same order: they can be
committed, compared, and applied again without a change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quintant.api.admission import (
    CustomResourceConversion,
    MutatingWebhook,
    MutatingWebhookConfiguration,
    RuleWithOperations,
    ServiceReference,
    ValidatingWebhook,
    ValidatingWebhookConfiguration,
    WebhookClientConfig,
    WebhookConversion,
)
from quintant.api.meta import LabelSelector, LabelSelectorRequirement
from quintant.core.errors import ConfigError
from quintant.core.object import ObjectMeta, replace
from quintant.runtime.webhook.hook import WebhookHandler

Configuration = ValidatingWebhookConfiguration | MutatingWebhookConfiguration
WebhookEndpoint = ServiceReference | str
"""Where a webhook server is, for the API server: behind a Service, or at an https:// URL."""

NAMESPACE_LABEL = "kubernetes.io/metadata.name"
"""The label that every namespace has from its server: its name."""
REVIEWS = ("v1",)
"""The versions of a review that we ask to be sent."""


def webhook_configurations(
    name: str,
    hooks: Sequence[WebhookHandler],
    endpoint: WebhookEndpoint,
    ca_bundle: bytes,
    namespaces: Sequence[str] = (),
) -> tuple[Configuration, ...]:
    """The configuration of the mutating hooks and that of the validating ones, if there are any."""
    mutating = tuple(
        MutatingWebhook(
            **_webhook(hook, endpoint, ca_bundle, namespaces),
            reinvocation_policy=hook.settings.reinvocation_policy,
        )
        for hook in hooks
        if hook.verb == "mutate"
    )
    validating = tuple(
        ValidatingWebhook(**_webhook(hook, endpoint, ca_bundle, namespaces))
        for hook in hooks
        if hook.verb == "validate"
    )
    first = ObjectMeta(name=f"{name}-mutating-webhook-configuration")
    second = ObjectMeta(name=f"{name}-validating-webhook-configuration")
    both: tuple[Configuration, ...] = (
        MutatingWebhookConfiguration(metadata=first, webhooks=mutating),
        ValidatingWebhookConfiguration(metadata=second, webhooks=validating),
    )
    return tuple(configuration for configuration in both if configuration.webhooks)


def crd_conversion(
    path: str, endpoint: WebhookEndpoint, ca_bundle: bytes
) -> CustomResourceConversion:
    """The `spec.conversion` of the definition of a kind that is converted at `path`."""
    webhook = WebhookConversion(
        client_config=_client(path, endpoint, ca_bundle), conversion_review_versions=REVIEWS
    )
    return CustomResourceConversion(strategy="Webhook", webhook=webhook)


def _webhook(
    hook: WebhookHandler, endpoint: WebhookEndpoint, ca_bundle: bytes, namespaces: Sequence[str]
) -> dict[str, Any]:
    settings = hook.settings
    return {
        "name": hook.name,
        "client_config": _client(hook.path, endpoint, ca_bundle),
        "rules": (_rule(hook),),
        "failure_policy": settings.failure_policy,
        "match_policy": settings.match_policy,
        "namespace_selector": settings.namespace_selector or _within(hook, namespaces),
        "object_selector": settings.object_selector,
        "match_conditions": settings.match_conditions,
        "side_effects": settings.side_effects,
        "timeout_seconds": settings.timeout_seconds,
        "admission_review_versions": REVIEWS,
    }


def _within(hook: WebhookHandler, namespaces: Sequence[str]) -> LabelSelector | None:
    """What is in these namespaces only; of kinds without a namespace a server asks anyway."""
    if not namespaces or not hook.resource.namespaced:
        return None
    named = LabelSelectorRequirement(key=NAMESPACE_LABEL, operator="In", values=tuple(namespaces))
    return LabelSelector(match_expressions=(named,))


def _rule(hook: WebhookHandler) -> RuleWithOperations:
    resource = hook.resource
    return RuleWithOperations(
        operations=hook.operations,
        api_groups=(resource.group,),
        api_versions=(resource.version,),
        resources=(resource.plural,),
        scope="Namespaced" if resource.namespaced else "Cluster",
    )


def _client(path: str, endpoint: WebhookEndpoint, ca_bundle: bytes) -> WebhookClientConfig:
    if isinstance(endpoint, ServiceReference):
        return WebhookClientConfig(service=replace(endpoint, path=path), ca_bundle=ca_bundle)
    if not endpoint.startswith("https://"):
        raise ConfigError(
            f"{endpoint!r} cannot be the address of a webhook server",
            because="an API server calls webhooks over https:// only",
        )
    return WebhookClientConfig(url=endpoint.rstrip("/") + path, ca_bundle=ca_bundle)
