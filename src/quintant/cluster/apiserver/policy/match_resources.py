"""MatchResources, matching.Matcher: whether rules of a policy or of its binding cover a change."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.selectors import EVERYTHING, Selector, from_object
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.webhooks.attributes import Attributes
from quintant.cluster.apiserver.webhooks.rules import OperationRule, read_rule

EXACT = "Exact"


class NamedRule(Struct, frozen=True):
    """A rule for all objects of some resources, or for those with certain names."""

    rule: OperationRule
    names: frozenset[str] = frozenset()

    def covers(self, kind: Kind, attributes: Attributes) -> bool:
        """Whether it covers a change, seen as one of a version of its resource."""
        if not self.rule.covers(kind, attributes.sub, attributes.operation):
            return False
        return not self.names or attributes.name in self.names


class MatchResources(Struct, frozen=True):
    """What a policy is about, or what its binding leaves of that."""

    rules: tuple[NamedRule, ...] = ()
    excluded: tuple[NamedRule, ...] = ()
    exact: bool = False
    """Only the very versions of the rules, not others of the same resource."""
    namespaces: Selector = EVERYTHING
    objects: Selector = EVERYTHING

    def may_cover(self, kinds: Iterable[Kind], sub: str, operation: str) -> bool:
        """Whether a change of one of a resource's versions can be covered at all."""
        return not self.rules or any(
            each.rule.covers(kind, sub, operation) for kind in kinds for each in self.rules
        )

    def matching_kind(self, attributes: Attributes, others: Iterable[Kind]) -> Kind | None:
        """The version as which a change is covered; None if it is not."""
        if self._covering(self.excluded, attributes, others) is not None:
            return None
        if not self.rules:
            return attributes.kind
        return self._covering(self.rules, attributes, others)

    def _covering(
        self, rules: tuple[NamedRule, ...], attributes: Attributes, others: Iterable[Kind]
    ) -> Kind | None:
        if any(rule.covers(attributes.kind, attributes) for rule in rules):
            return attributes.kind
        if self.exact:
            return None
        pairs = ((rule, kind) for rule in rules for kind in others)
        return next((kind for rule, kind in pairs if rule.covers(kind, attributes)), None)


def read_match_resources(resources: JsonObject) -> MatchResources:
    """What is covered, from its object form."""
    return MatchResources(
        rules=tuple(map(_named_rule, resources.get("resourceRules") or ())),
        excluded=tuple(map(_named_rule, resources.get("excludeResourceRules") or ())),
        exact=resources.get("matchPolicy") == EXACT,
        namespaces=from_object(resources.get("namespaceSelector") or {}),
        objects=from_object(resources.get("objectSelector") or {}),
    )


def _named_rule(rule: JsonObject) -> NamedRule:
    return NamedRule(read_rule(rule), frozenset(rule.get("resourceNames") or ()))
