"""RuleWithOperations: which operations on which resources a webhook or a policy is for."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject

ANY = "*"


class OperationRule(Struct, frozen=True):
    """Which requests a webhook or a policy is for; `*` stands for all."""

    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: tuple[tuple[str, str], ...]
    """Each with its subresource."""
    scope: str

    def covers(self, kind: Kind, sub: str, operation: str) -> bool:
        """Whether it is for an operation on a resource or one of its subresources."""
        resource = kind.resource
        return (
            _listed(operation, self.operations)
            and _listed(resource.group, self.groups)
            and _listed(resource.version, self.versions)
            and self.scope in (ANY, "Namespaced" if resource.namespaced else "Cluster")
            and any(
                name in (ANY, resource.plural) and below in (ANY, sub)
                for name, below in self.resources
            )
        )


def equivalent_kinds(catalog: Catalog, kind: Kind) -> Iterable[Kind]:
    """The other versions of a resource."""
    return [each for each in catalog if each.table == kind.table and each is not kind]


def read_rule(rule: JsonObject) -> OperationRule:
    """A rule, from its object form."""
    return OperationRule(
        operations=frozenset(rule.get("operations") or ()),
        groups=frozenset(rule.get("apiGroups") or ()),
        versions=frozenset(rule.get("apiVersions") or ()),
        resources=tuple(map(_split, rule.get("resources") or ())),
        scope=rule.get("scope") or ANY,
    )


def _split(resource: str) -> tuple[str, str]:
    name, _, sub = resource.partition("/")
    return name, sub


def _listed(item: str, items: frozenset[str]) -> bool:
    return item in items or ANY in items
