"""validateMatchResources: rules, excluded rules and selectors of policies and bindings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quintant.cluster.apiserver.meta.field_errors import (
    duplicate,
    invalid_each,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.names import path_segment_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import validate_enum
from quintant.cluster.apiserver.validation.label_selectors import selector_causes
from quintant.cluster.apiserver.validation.webhooks.rules import rule_causes
from quintant.core.errors import Cause

_MATCH_POLICIES = ("Equivalent", "Exact")
_RULES = ("resourceRules", "excludeResourceRules")
_MUTATING_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")


def match_constraints_causes(constraints: JsonObject | None, path: str) -> Iterator[Cause]:
    """What is wrong with what a policy is about: it has to name at least one resource."""
    if constraints is None:
        yield required(path)
        return
    yield from match_resources_causes(constraints, path)
    if not constraints.get("resourceRules"):
        yield required(f"{path}.resourceRules")


def match_resources_causes(resources: JsonObject, path: str) -> Iterator[Cause]:
    """What is wrong with rules and selectors."""
    policy = resources.get("matchPolicy")
    if policy is None:
        yield required(f"{path}.matchPolicy")
    else:
        yield from validate_enum(f"{path}.matchPolicy", policy, _MATCH_POLICIES)
    for name in ("namespaceSelector", "objectSelector"):
        yield from selector_causes(f"{path}.{name}", resources.get(name) or {})
    for name in _RULES:
        for at, rule in enumerate(resources.get(name) or ()):
            yield from _named_rule_causes(rule, f"{path}.{name}[{at}]")


def mutating_operation_causes(resources: JsonObject, path: str) -> Iterator[Cause]:
    """What is wrong with rules where only what has a body counts: nothing mutates a DELETE."""
    for rule in resources.get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            if operation not in _MUTATING_OPERATIONS:
                yield not_supported(
                    f"{path}.resourceRules.operations", operation, _MUTATING_OPERATIONS
                )


def _named_rule_causes(rule: JsonObject, path: str) -> Iterator[Cause]:
    yield from _name_causes(rule.get("resourceNames") or (), f"{path}.resourceNames")
    yield from rule_causes(rule, path)


def _name_causes(names: Sequence[str], path: str) -> Iterator[Cause]:
    known: set[str] = set()
    for at, name in enumerate(names):
        yield from invalid_each(f"{path}[{at}]", name, path_segment_errors(name))
        if name in known:
            yield duplicate(f"{path}[{at}]", name)
        known.add(name)
