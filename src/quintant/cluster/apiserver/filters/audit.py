"""WithAudit: the request log: user, request, outcome, and the permissions that were used.

Bounded, in memory, for assertions and for deriving the smallest role that would have sufficed.
It holds neither bodies nor headers, and of a long text its beginning: whoever may not do anything
could fill the memory with paths otherwise.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator

from msgspec import Struct

from quintant.api.rbac import PolicyRule
from quintant.cluster.apiserver.authorization.policy_rules import RbacRule
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.runtime.manager.permissions import Permission, Permissions, policy_rules

KEEP = 10_000
"""Requests remembered: enough for a test's run, a few megabytes."""
LONGEST = 512
"""Characters of one text that are remembered: more than any name or path that is served has."""
MOST_USED = 10_000
"""Permissions remembered per user: more than there are, if it does not ask for odd paths."""


class AuditRecord(Struct, frozen=True):
    """One request."""

    user: str
    verb: str
    group: str
    resource: str
    namespace: str
    name: str
    code: int


class Audit:
    """The latest requests, oldest first, and every permission that was ever made use of."""

    def __init__(self, keep: int = KEEP) -> None:
        self._records: deque[AuditRecord] = deque(maxlen=keep)
        self._used: dict[str, set[Permission]] = defaultdict(set)

    def __iter__(self) -> Iterator[AuditRecord]:
        return iter(tuple(self._records))

    def __len__(self) -> int:
        return len(self._records)

    def record(self, user: str, route: RequestInfo, code: int) -> None:
        """Remember a request; subresources are named as roles name them."""
        self._records.append(
            AuditRecord(
                user[:LONGEST],
                route.verb[:LONGEST],
                route.group[:LONGEST],
                (route.full_resource or route.path)[:LONGEST],
                route.namespace[:LONGEST],
                route.name[:LONGEST],
                code,
            )
        )

    def record_allowed(self, user: str, route: RequestInfo) -> None:
        """Remember that somebody was allowed something, and so made use of a permission."""
        used, resource = self._used[user], route.full_resource or route.path
        if len(used) < MOST_USED and max(map(len, (resource, route.group, route.verb))) <= LONGEST:
            used.add(Permission(route.group, resource, route.verb))

    def by(self, user: str) -> list[AuditRecord]:
        """The requests of one user."""
        return [record for record in self._records if record.user == user]

    def used(self, user: str) -> Permissions:
        """Every permission that a user made use of: a path stands for itself as a resource."""
        return frozenset(self._used.get(user, ()))

    def sufficient(self, user: str) -> tuple[PolicyRule, ...]:
        """The smallest rules under which a user could have done everything it did."""
        return policy_rules(held for held in self.used(user) if not held.resource.startswith("/"))

    def unused(self, user: str, granted: Iterable[RbacRule]) -> list[RbacRule]:
        """What of these rules a user never made use of, a verb and a resource each.

        Names are not told apart: a permission on one object counts as used with its verb.
        """
        requests = [_route(held) for held in self.used(user)]
        pieces = [piece for rule in granted for piece in rule.breakdown()]
        return [
            piece for piece in pieces if not any(_nameless(piece).allows(each) for each in requests)
        ]

    def clear(self) -> None:
        """Forget everything so far."""
        self._records.clear()
        self._used.clear()


def _route(held: Permission) -> RequestInfo:
    resource, _, sub = held.resource.partition("/")
    if not resource:
        return RequestInfo(held.verb, held.resource)
    return RequestInfo(held.verb, "", group=held.group, resource=resource, subresource=sub)


def _nameless(piece: RbacRule) -> RbacRule:
    return RbacRule(piece.verbs, piece.api_groups, piece.resources, (), piece.non_resource_urls)
