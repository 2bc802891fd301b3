"""WebhookAccessor: a webhook of a configuration: rules, selectors, failurePolicy, timeout."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from msgspec import Struct

from quintant.cluster.apiserver.golang.url import clean_path
from quintant.cluster.apiserver.meta.selectors import EVERYTHING, Selector, from_object
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.webhooks.client_config import REVIEWS
from quintant.cluster.apiserver.webhooks.match_conditions import CompiledCondition
from quintant.cluster.apiserver.webhooks.rules import OperationRule, read_rule

FAIL, IGNORE = "Fail", "Ignore"
"""The failure policies: a webhook that cannot be asked refuses the change, or is left out."""
_PORT = 443


class WebhookService(Struct, frozen=True):
    """A Service in front of a webhook."""

    name: str
    namespace: str
    port: int = _PORT


class WebhookTarget(Struct, frozen=True):
    """Where a webhook is, and the authorities that vouch for it; without any, the machine's."""

    url: str
    bundle: bytes = b""
    service: WebhookService | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ConfiguredWebhook:
    """One webhook."""

    name: str
    mutating: bool
    client: WebhookTarget
    rules: tuple[OperationRule, ...] = ()
    exact: bool = False
    """Only the very versions of the rules, not others of the same resource."""
    namespaces: Selector = EVERYTHING
    objects: Selector = EVERYTHING
    conditions: tuple[CompiledCondition, ...] = field(default=(), repr=False)
    failure_policy: str = FAIL
    timeout: int = 10
    """Seconds."""
    review: str = ""
    """The version of the review it gets; empty if there is none it understands."""
    reinvoked: bool = False


def read_webhooks(configuration: JsonObject, *, mutating: bool) -> Iterator[ConfiguredWebhook]:
    """The webhooks of a configuration, in order."""
    for entry in configuration.get("webhooks") or ():
        versions = entry.get("admissionReviewVersions") or ()
        yield ConfiguredWebhook(
            name=entry["name"],
            mutating=mutating,
            client=read_target(entry["clientConfig"]),
            rules=tuple(map(read_rule, entry.get("rules") or ())),
            exact=entry.get("matchPolicy") == "Exact",
            namespaces=from_object(entry.get("namespaceSelector") or {}),
            objects=from_object(entry.get("objectSelector") or {}),
            conditions=tuple(
                CompiledCondition(each["expression"]) for each in entry.get("matchConditions") or ()
            ),
            failure_policy=entry.get("failurePolicy") or FAIL,
            timeout=entry["timeoutSeconds"],
            review=next((each for each in versions if each in REVIEWS), ""),
            reinvoked=entry.get("reinvocationPolicy") == "IfNeeded",
        )


def read_target(config: Mapping[str, Any]) -> WebhookTarget:
    """How a webhook is reached, from a `clientConfig`."""
    bundle = b64decode(config.get("caBundle") or "")
    service = config.get("service")
    if service is None:
        url = urlsplit(config.get("url") or "")
        return WebhookTarget(url._replace(path=clean_path(url.path)).geturl(), bundle)
    port = service.get("port", _PORT)
    origin = f"https://{service['name']}.{service['namespace']}.svc:{port}"
    path = clean_path(quote(service.get("path") or ""))
    found = WebhookService(service["name"], service["namespace"], port)
    return WebhookTarget(f"{origin}{path}", bundle, found)
