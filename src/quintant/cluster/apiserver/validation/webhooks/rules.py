"""validateRuleWithOperations: the rules of webhooks and of admission policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quintant.cluster.apiserver.meta.field_errors import invalid, required
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import validate_enum
from quintant.core.errors import Cause

_ANY = "*"
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")


def rule_causes(rule: JsonObject, path: str) -> Iterator[Cause]:
    """What is wrong with a rule: operations, groups, versions, resources, scope."""
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
