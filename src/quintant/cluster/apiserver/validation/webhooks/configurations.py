"""ValidateValidatingWebhookConfiguration: names, rules, clients; also of mutating ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from quintant.cluster.apiserver.meta.field_errors import (
    duplicate,
    invalid,
    invalid_each,
    required,
    too_many,
)
from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors, qualified_name_errors
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
from quintant.core.errors import Cause

TIMEOUTS = range(1, 31)
"""Seconds that a webhook may take."""
MOST_CONDITIONS = 64
SEGMENTS = 3
"""Parts of a webhook's name, which is a domain of its author's."""
_ANY = "*"
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
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
        yield from _rule(rule, f"{path}.rules[{at}]")
    yield from _choices(hook, path, mutating=mutating)
    for name in ("namespaceSelector", "objectSelector"):
        yield from selector_causes(f"{path}.{name}", hook.get(name) or {})
    yield from _client(hook.get("clientConfig") or {}, f"{path}.clientConfig")
    needed = f"must specify one of {', '.join(REVIEWS)}"
    versions = hook.get("admissionReviewVersions") or ()
    yield from review_causes(versions, f"{path}.admissionReviewVersions", needed)
    yield from _conditions(hook.get("matchConditions") or (), f"{path}.matchConditions")


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


def _rule(rule: JsonObject, path: str) -> Iterator[Cause]:
    operations = rule.get("operations") or []
    yield from _listed(operations, f"{path}.operations", "operations")
    for at, operation in enumerate(operations):
        yield from validate_enum(f"{path}.operations[{at}]", operation, _OPERATIONS)
    yield from _listed(rule.get("apiGroups") or [], f"{path}.apiGroups", "API groups")
    versions = rule.get("apiVersions") or []
    yield from _listed(versions, f"{path}.apiVersions", "API versions")
    yield from _named(versions, f"{path}.apiVersions")
    yield from _resources(rule.get("resources") or [], f"{path}.resources")
    yield from validate_enum(f"{path}.scope", rule.get("scope"), ("*", "Cluster", "Namespaced"))


def _listed(items: Sequence[str], path: str, what: str) -> Iterator[Cause]:
    """Something has to be listed, and nothing beside everything."""
    if not items:
        yield required(path)
    elif len(items) > 1 and _ANY in items:
        yield invalid(path, items, f"if '*' is present, must not specify other {what}")


def _named(items: Sequence[str], path: str) -> Iterator[Cause]:
    yield from (required(f"{path}[{at}]") for at, item in enumerate(items) if not item)


def _resources(resources: Sequence[str], path: str) -> Iterator[Cause]:
    if not resources:
        yield required(path)
    below_all, of_all = set(), set()
    for at, resource in enumerate(resources):
        name, _, sub = resource.partition("/")
        if not resource:
            yield required(f"{path}[{at}]")
        elif sub and name in below_all:
            yield invalid(f"{path}[{at}]", resource, _beside(f"{name}/*", resource))
        elif sub and sub in of_all:
            yield invalid(f"{path}[{at}]", resource, _beside(f"*/{sub}", resource))
        below_all |= {name} if sub == _ANY else set()
        of_all |= {sub} if sub and name == _ANY else set()
    if len(resources) > 1 and "*/*" in resources:
        yield invalid(path, resources, "if '*/*' is present, must not specify other resources")
    bare = [each for each in resources if "/" not in each]
    if len(bare) > 1 and _ANY in bare:
        text = "if '*' is present, must not specify other resources without subresources"
        yield invalid(path, resources, text)


def _beside(all_of_them: str, resource: str) -> str:
    return f"if '{all_of_them}' is present, must not specify {resource}"


def _conditions(conditions: Sequence[JsonObject], path: str) -> Iterator[Cause]:
    if len(conditions) > MOST_CONDITIONS:
        yield too_many(path, len(conditions), MOST_CONDITIONS)
        return
    names: set[str] = set()
    for at, condition in enumerate(conditions):
        item_path, name = f"{path}[{at}]", condition.get("name") or ""
        yield from _expression(condition.get("expression") or "", f"{item_path}.expression")
        if not name:
            yield required(f"{item_path}.name")
            continue
        yield from invalid_each(f"{item_path}.name", name, qualified_name_errors(name))
        if name in names:
            yield duplicate(f"{item_path}.name", name)
        names.add(name)


def _expression(expression: str, path: str) -> Iterator[Cause]:
    # CEL is loaded with the first condition.
    from quintant.cluster.apiserver.cel import Uncompilable
    from quintant.cluster.apiserver.validation.webhooks.match_conditions import (
        compile_match_condition,
    )

    if not expression.strip():
        yield required(path)
        return
    try:
        found = compile_match_condition(expression).type
    except Uncompilable as error:
        yield invalid(path, expression, str(error))
        return
    if found != "bool":
        yield invalid(path, expression, f"must evaluate to bool but got {found}")


WEBHOOKS = {
    "mutatingwebhookconfigurations": partial(validate_webhook_configuration, mutating=True),
    "validatingwebhookconfigurations": partial(validate_webhook_configuration, mutating=False),
}
