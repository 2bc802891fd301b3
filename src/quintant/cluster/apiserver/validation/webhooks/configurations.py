"""ValidateValidatingWebhookConfiguration: names, rules, clients; also of mutating ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from quintant.cluster.apiserver.meta.field_errors import (
    duplicate,
    invalid,
    invalid_each,
    required,
)
from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import validate_enum
from quintant.cluster.apiserver.validation.label_selectors import selector_causes
from quintant.cluster.apiserver.validation.webhooks.client_config import (
    REVIEWS,
    has_one_target,
    review_causes,
    service_causes,
    url_causes,
)
from quintant.cluster.apiserver.validation.webhooks.match_conditions import (
    compile_match_condition,
    condition_causes,
)
from quintant.cluster.apiserver.validation.webhooks.rules import rule_causes
from quintant.core.errors import Cause

TIMEOUTS = range(1, 31)
"""Seconds that a webhook may take."""
SEGMENTS = 3
"""Parts of a webhook's name, which is a domain of its author's."""
_EFFECTS = ("None", "NoneOnDryRun")
_EITHER = "exactly one of url or service is required"


def validate_webhook_configuration(
    obj: JsonObject, live: JsonObject | None, *, mutating: bool
) -> Iterator[Cause]:
    """What is wrong with a configuration."""
    names: set[str] = set()
    for at, hook in enumerate(obj.get("webhooks") or ()):
        path, name = f"webhooks[{at}]", hook.get("name") or ""
        yield from _hook(hook, path, mutating=mutating)
        if name in names:
            yield duplicate(f"{path}.name", name)
        names.add(name)


def _hook(hook: JsonObject, path: str, *, mutating: bool) -> Iterator[Cause]:
    yield from _name(hook.get("name") or "", f"{path}.name")
    for at, rule in enumerate(hook.get("rules") or ()):
        yield from rule_causes(rule, f"{path}.rules[{at}]")
    yield from _choices(hook, path, mutating=mutating)
    for name in ("namespaceSelector", "objectSelector"):
        yield from selector_causes(f"{path}.{name}", hook.get(name) or {})
    yield from _client(hook.get("clientConfig") or {}, f"{path}.clientConfig")
    needed = f"must specify one of {', '.join(REVIEWS)}"
    versions = hook.get("admissionReviewVersions") or ()
    yield from review_causes(versions, f"{path}.admissionReviewVersions", needed)
    conditions = hook.get("matchConditions") or ()
    yield from condition_causes(conditions, f"{path}.matchConditions", compile_match_condition)


def _name(name: str, path: str) -> Iterator[Cause]:
    if not name:
        yield required(path)
    elif complaints := invalid_each(path, name, dns1123_subdomain_errors(name)):
        yield from complaints
    elif len(name.split(".")) < SEGMENTS:
        yield invalid(
            path, name, "should be a domain with at least three segments separated by dots"
        )


def _choices(hook: JsonObject, path: str, *, mutating: bool) -> Iterator[Cause]:
    yield from validate_enum(f"{path}.failurePolicy", hook.get("failurePolicy"), ("Fail", "Ignore"))
    yield from validate_enum(
        f"{path}.matchPolicy", hook.get("matchPolicy"), ("Equivalent", "Exact")
    )
    effects = hook.get("sideEffects")
    if effects is None:
        yield required(f"{path}.sideEffects", f"must specify one of {', '.join(_EFFECTS)}")
    else:
        yield from validate_enum(f"{path}.sideEffects", effects, _EFFECTS)
    if mutating:
        again = hook.get("reinvocationPolicy")
        yield from validate_enum(f"{path}.reinvocationPolicy", again, ("IfNeeded", "Never"))
    seconds = hook.get("timeoutSeconds")
    if seconds not in TIMEOUTS:
        text = "the timeout value must be between 1 and 30 seconds"
        yield invalid(f"{path}.timeoutSeconds", seconds, text)


def _client(client: JsonObject, path: str) -> Iterator[Cause]:
    if not has_one_target(client):
        yield required(path, _EITHER)
    elif client.get("url") is not None:
        yield from url_causes(client["url"], f"{path}.url")
    else:
        yield from service_causes(client["service"], f"{path}.service")


WEBHOOKS = {
    "mutatingwebhookconfigurations": partial(validate_webhook_configuration, mutating=True),
    "validatingwebhookconfigurations": partial(validate_webhook_configuration, mutating=False),
}
