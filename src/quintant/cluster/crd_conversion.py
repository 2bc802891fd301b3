"""How a definition says its versions are converted: not at all, or by a webhook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quintant.cluster.causes import forbidden_field, required, unsupported, wrong
from quintant.cluster.names import identifier_complaint
from quintant.cluster.urls import BadUrl, parse_request
from quintant.runtime.errors import Cause

REVIEWS = ("v1", "v1beta1")
"""Versions of ConversionReview that the server speaks."""
_NO_WEBHOOK = "should not be set when strategy is not set to Webhook"


def conversion_causes(conversion: Mapping[str, Any] | None, path: str) -> Iterator[Cause]:
    """What is wrong with how versions are converted."""
    if conversion is None:
        return
    strategy, webhook = conversion.get("strategy") or "", conversion.get("webhook") or {}
    if not strategy:
        yield required(f"{path}.strategy")
    elif strategy not in ("None", "Webhook"):
        yield unsupported(f"{path}.strategy", strategy, ["None", "Webhook"])
    reviews = webhook.get("conversionReviewVersions") or []
    if strategy == "Webhook":
        yield from _client(webhook.get("clientConfig"), f"{path}.webhookClientConfig")
        yield from _reviews(reviews, f"{path}.conversionReviewVersions")
        return
    if webhook.get("clientConfig") is not None:
        yield forbidden_field(f"{path}.webhookClientConfig", _NO_WEBHOOK)
    if reviews:
        yield forbidden_field(f"{path}.conversionReviewVersions", _NO_WEBHOOK)


def _client(client: Mapping[str, Any] | None, path: str) -> Iterator[Cause]:
    if client is None:
        yield required(path, "required when strategy is set to Webhook")
    elif (client.get("url") is None) == (client.get("service") is None):
        yield required(path, "exactly one of url or service is required")
    elif client.get("url") is not None:
        yield from _url(client["url"], f"{path}.url")
    else:
        # A real server mixes the two up, and so its complaints read.
        for name, told in (("name", "namespace"), ("namespace", "name")):
            if not client["service"].get(name):
                yield required(f"{path}.service.{told}")


def _url(url: str, path: str) -> Iterator[Cause]:
    form = "desired format: https://host[/path]"
    try:
        found = parse_request(url)
    except BadUrl as error:
        yield required(path, f"url must be a valid URL: {error}; {form}")
        return
    if found.scheme != "https":
        text = f"'https' is the only allowed URL scheme; {form}"
        yield wrong(path, found.scheme, text)
    if not found.host:
        yield wrong(path, found.host, f"host must be specified; {form}")


def _reviews(versions: Sequence[str], path: str) -> Iterator[Cause]:
    if not versions:
        yield required(path)
        return
    for at, version in enumerate(versions):
        if version in versions[:at]:
            yield wrong(f"{path}[{at}]", version, "duplicate version")
        elif complaint := identifier_complaint(version):
            yield wrong(f"{path}[{at}]", version, complaint)
    if not set(versions) & set(REVIEWS):
        text = f"must include at least one of {', '.join(REVIEWS)}"
        yield wrong(path, list(versions), text)
