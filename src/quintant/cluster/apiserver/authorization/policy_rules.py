"""PolicyRule, RuleAllows, Covers: what a rule allows, and whether rules cover another one.

Pure. A rule is compared piece by piece: every piece has one verb and one resource, name or path,
so it is either covered by a single rule or by none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import msgspec

from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.meta.request_info import RequestInfo

ALL = "*"


class RbacRule(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One rule of a role."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")

    def allows(self, route: RequestInfo) -> bool:
        """Whether the rule allows a request."""
        if not _listed(route.verb, self.verbs):
            return False
        if not route.resource:
            return any(_leads(pattern, route.path) for pattern in self.non_resource_urls)
        if not _listed(route.group, self.api_groups):
            return False
        if self.resource_names and route.name not in self.resource_names:
            return False
        return _has_resource(self.resources, route.full_resource)

    def covers(self, piece: RbacRule) -> bool:
        """Whether everything that a piece of a rule allows is allowed by this rule."""
        return (
            all(_listed(verb, self.verbs) for verb in piece.verbs)
            and all(_listed(group, self.api_groups) for group in piece.api_groups)
            and all(_has_resource(self.resources, name) for name in piece.resources)
            and self._covers_names(piece.resource_names)
            and all(self._covers_path(path) for path in piece.non_resource_urls)
        )

    def breakdown(self) -> Iterator[RbacRule]:
        """The same permissions in rules of one verb, one resource and one name each."""
        names: list[tuple[str, ...]] = [(name,) for name in self.resource_names] or [()]
        for piece in product(self.api_groups, self.resources, self.verbs, names):
            group, resource, verb, name = piece
            yield RbacRule((verb,), (group,), (resource,), name)
        for path, verb in product(self.non_resource_urls, self.verbs):
            yield RbacRule((verb,), non_resource_urls=(path,))

    def __str__(self) -> str:
        """As a refusal prints it."""
        fields = {
            "APIGroups": self.api_groups,
            "Resources": self.resources,
            "ResourceNames": self.resource_names,
            "NonResourceURLs": self.non_resource_urls,
            "Verbs": self.verbs,
        }
        listed = ", ".join(f"{name}:{words(texts)}" for name, texts in fields.items() if texts)
        return f"{{{listed}}}"

    def _covers_names(self, names: Sequence[str]) -> bool:
        if not self.resource_names:
            return True
        return bool(names) and set(names) <= set(self.resource_names)

    def _covers_path(self, path: str) -> bool:
        return any(_leads(pattern, path) for pattern in self.non_resource_urls)


EVERYTHING = (
    RbacRule((ALL,), (ALL,), (ALL,)),
    RbacRule((ALL,), non_resource_urls=(ALL,)),
)
"""What an administrator may do."""


def uncovered_rules(held: Sequence[RbacRule], wanted: Iterable[RbacRule]) -> list[RbacRule]:
    """What of the wanted rules is not covered by those that are held."""
    pieces = [piece for rule in wanted for piece in rule.breakdown()]
    return [piece for piece in pieces if not any(rule.covers(piece) for rule in held)]


def compact_rules(pieces: Iterable[RbacRule]) -> list[RbacRule]:
    """Pieces about the same resource and name as one rule, with all their verbs."""
    found: dict[object, RbacRule] = {}
    for piece in pieces:
        key = (piece.api_groups, piece.resources, piece.resource_names)
        if piece.non_resource_urls:
            found[piece] = piece
        elif key in found:
            verbs = found[key].verbs + piece.verbs
            found[key] = msgspec.structs.replace(piece, verbs=verbs)
        else:
            found[key] = piece
    return list(found.values())


def words(texts: Iterable[str]) -> str:
    """Texts as Go prints a list of quoted strings."""
    return f"[{' '.join(quoted(text) for text in texts)}]"


def _listed(word: str, among: Sequence[str]) -> bool:
    return word in among or ALL in among


def _has_resource(patterns: Sequence[str], resource: str) -> bool:
    if ALL in patterns or resource in patterns:
        return True
    _, slash, sub = resource.partition("/")
    return bool(slash) and f"*/{sub}" in patterns


def _leads(pattern: str, path: str) -> bool:
    return pattern == path or (pattern.endswith(ALL) and path.startswith(pattern.rstrip(ALL)))
