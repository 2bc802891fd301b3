"""RBACAuthorizer: role-based access control over the roles and bindings in the store.

What was read from the store, and what was decided, is remembered until any role or binding changes,
so a permission granted or withdrawn holds for the next request. A decision says why, in the words
of a real server.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver.authorization.bindings import (
    GROUP,
    BoundRole,
    RbacBinding,
    RbacSubject,
)
from quintant.cluster.apiserver.authorization.policy_rules import EVERYTHING, RbacRule
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import StatusError, forbidden_path
from quintant.cluster.apiserver.meta.user import MASTERS, User
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Table

MOST_DECIDED = 10_000
"""Decisions remembered, a few megabytes; when there are more, all are forgotten."""
LONGEST = 1024
"""Characters of a path that a decision is remembered for: no path that is served is longer."""


class Decision(Struct, frozen=True):
    """Whether something is allowed; the reason may be empty."""

    allowed: bool
    reason: str = ""


ALLOWED = Decision(True)


class ResolvedRules(Struct, frozen=True):
    """The rules that hold for somebody somewhere, and the roles that could not be found."""

    rules: tuple[RbacRule, ...]
    missing_roles: tuple[str, ...] = ()


class Authorizer(Protocol):
    """Decides whether a user may do what a request asks."""

    def decide(self, user: User, route: RequestInfo) -> Decision: ...

    def rules_for(self, user: User, namespace: str) -> ResolvedRules:
        """What a user may do in a namespace, or in none."""

    def role(self, ref: BoundRole, namespace: str) -> tuple[RbacRule, ...] | None:
        """The rules of a role, as named by a binding in a namespace; None if there is none."""

    def forget(self) -> None:
        """Drop what was learnt from the store: its contents were exchanged."""


class AllowAll:
    """Everybody may do everything."""

    def decide(self, user: User, route: RequestInfo) -> Decision:
        return ALLOWED

    def rules_for(self, user: User, namespace: str) -> ResolvedRules:
        return ResolvedRules(EVERYTHING)

    def role(self, ref: BoundRole, namespace: str) -> tuple[RbacRule, ...] | None:
        return ()

    def forget(self) -> None:
        """Nothing was learnt."""


class _Role(msgspec.Struct, frozen=True):
    rules: tuple[RbacRule, ...] | None = None


class Rbac:
    """Role-based access control from the objects of a store."""

    def __init__(self, store: RevisionStore) -> None:
        self._store = store
        self._roles: dict[tuple[str, str], tuple[RbacRule, ...] | None] = {}
        self._bindings: dict[str, list[RbacBinding]] = {}
        self._decided: dict[tuple[str, tuple[str, ...], RequestInfo], Decision] = {}
        store.subscribe(self._on_change)

    def decide(self, user: User, route: RequestInfo) -> Decision:
        """Whether some role bound to the user covers the request."""
        if MASTERS in user.groups:
            return ALLOWED
        key, known = (user.name, user.groups, route), self._decided
        found = known.get(key)
        if found is None:
            found = self._decide(user, route)
            # Of who is refused nothing is kept: anybody can ask for anything.
            if found.allowed and len(route.path) + len(route.name) <= LONGEST:
                if len(known) >= MOST_DECIDED:
                    known.clear()
                known[key] = found
        return found

    def rules_for(self, user: User, namespace: str) -> ResolvedRules:
        rules: list[RbacRule] = []
        lost = []
        for binding, _ in self._bound(user, namespace):
            found = self.role(binding.role_ref, binding.metadata.namespace)
            rules += found or ()
            lost += [f"{binding.role_ref} not found"] if found is None else []
        return ResolvedRules(tuple(rules), tuple(lost))

    def role(self, ref: BoundRole, namespace: str) -> tuple[RbacRule, ...] | None:
        if ref.kind == "ClusterRole":
            return self._rules("clusterroles", ref.name)
        return self._rules("roles", f"{namespace}/{ref.name}")

    def forget(self) -> None:
        """Read everything anew.

        Others than those that are filled now: what a thread is finding out may be outdated.
        """
        self._roles, self._bindings, self._decided = {}, {}, {}

    def _decide(self, user: User, route: RequestInfo) -> Decision:
        lost = []
        for binding, subject in self._bound(user, route.namespace):
            rules = self.role(binding.role_ref, binding.metadata.namespace)
            if rules is None:
                lost.append(f"{binding.role_ref} not found")
            elif any(rule.allows(route) for rule in rules):
                return Decision(True, f"RBAC: allowed by {binding.describe(subject)}")
        return Decision(False, f"RBAC: {join_errors(lost)}" if lost else "")

    def _bound(self, user: User, namespace: str) -> Iterator[tuple[RbacBinding, RbacSubject]]:
        for binding in self._all("clusterrolebindings"):
            if (subject := binding.subject(user)) is not None:
                yield binding, subject
        for binding in self._all("rolebindings") if namespace else ():
            if binding.metadata.namespace == namespace and (subject := binding.subject(user)):
                yield binding, subject

    def _rules(self, plural: str, key: str) -> tuple[RbacRule, ...] | None:
        known = self._roles
        if (plural, key) not in known:
            entry = self._table(plural).entries.get(key)
            known[plural, key] = (
                None if entry is None else stored_json.read(entry, _Role).rules or ()
            )
        return known[plural, key]

    def _all(self, plural: str) -> list[RbacBinding]:
        known = self._bindings
        found = known.get(plural)
        if found is None:
            entries = sorted(self._table(plural).entries.copy().items())
            found = known[plural] = [stored_json.read(entry, RbacBinding) for _, entry in entries]
        return found

    def _table(self, plural: str) -> Table:
        return self._store.table(f"{plural}.{GROUP}")

    def _on_change(self, table: Table, change: Change) -> None:
        if table.name.endswith(GROUP):
            self.forget()


def forbidden_request(user: User, route: RequestInfo, reason: str = "") -> StatusError:
    """403, saying what the user lacks."""
    why = f": {reason}" if reason else ""
    if not route.resource:
        return forbidden_path(user.name, route.verb, route.path, why)
    suffix = f'in the namespace "{route.namespace}"' if route.namespace else "at the cluster scope"
    full = f"{route.resource}.{route.group}" if route.group else route.resource
    named = f' "{route.name}"' if route.name else ""
    text = (
        f'{full}{named} is forbidden: User "{user.name}" cannot {route.verb} resource '
        f'"{route.full_resource}" in API group "{route.group}" {suffix}{why}'
    )
    details = {"name": route.name, "group": route.group, "kind": route.resource}
    return StatusError(
        403, "Forbidden", text, {key: value for key, value in details.items() if value}
    )


def join_errors(errors: list[str]) -> str:
    """Several errors as one, as Go joins them: each once."""
    unique = list(dict.fromkeys(errors))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
