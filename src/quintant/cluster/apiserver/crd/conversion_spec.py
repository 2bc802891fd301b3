"""CustomResourceConversion: a definition's conversion: the strategy None, or a webhook."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

from quintant.cluster.apiserver.golang.tls_config import bundle_error
from quintant.cluster.apiserver.meta.field_errors import (
    forbidden,
    invalid,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.webhooks.client_config import (
    has_one_target,
    review_causes,
    url_causes,
)
from quintant.core.errors import Cause

_NO_WEBHOOK = "should not be set when strategy is not set to Webhook"


def validate_conversion(conversion: Mapping[str, Any] | None, path: str) -> Iterator[Cause]:
    """What is wrong with how versions are converted."""
    if conversion is None:
        return
    strategy, webhook = conversion.get("strategy") or "", conversion.get("webhook") or {}
    if not strategy:
        yield required(f"{path}.strategy")
    elif strategy not in ("None", "Webhook"):
        yield not_supported(f"{path}.strategy", strategy, ["None", "Webhook"])
    reviews = webhook.get("conversionReviewVersions") or []
    if strategy == "Webhook":
        yield from _client(webhook.get("clientConfig"), f"{path}.webhookClientConfig")
        yield from review_causes(reviews, f"{path}.conversionReviewVersions")
        return
    if webhook.get("clientConfig") is not None:
        yield forbidden(f"{path}.webhookClientConfig", _NO_WEBHOOK)
    if reviews:
        yield forbidden(f"{path}.conversionReviewVersions", _NO_WEBHOOK)


def validate_bundle(crd: JsonObject, live: JsonObject) -> Iterator[Cause]:
    """What is wrong with a new bundle, once the kind is served; one that was wrong may stay so."""
    if (error := conversion_bundle_error(crd)) and not conversion_bundle_error(live):
        path = "spec.conversion.webhookClientConfig.caBundle"
        yield invalid(path, crd["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"], error)


def conversion_bundle_error(crd: JsonObject) -> str:
    """Why no webhook could ever be believed; nothing without a bundle."""
    conversion = crd["spec"].get("conversion") or {}
    client = (conversion.get("webhook") or {}).get("clientConfig") or {}
    return bundle_error(b64decode(client.get("caBundle") or ""))


def _client(client: Mapping[str, Any] | None, path: str) -> Iterator[Cause]:
    if client is None:
        yield required(path, "required when strategy is set to Webhook")
    elif not has_one_target(client):
        yield required(path, "exactly one of url or service is required")
    elif client.get("url") is not None:
        yield from url_causes(client["url"], f"{path}.url")
    else:
        # A real server mixes the two up, and so its complaints read.
        for name, reported in (("name", "namespace"), ("namespace", "name")):
            if not client["service"].get(name):
                yield required(f"{path}.service.{reported}")
