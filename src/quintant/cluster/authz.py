"""Who may do what: role-based access control over the roles and bindings in the store.

Rules are read from the store at every decision, through a cache that any change of a role or
binding empties, so a permission granted or withdrawn holds for the next request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import msgspec

from quintant.cluster.auth import MASTERS, User, asked_groups
from quintant.cluster.problems import Problem, forbidden_path
from quintant.cluster.ring import Change
from quintant.cluster.routes import Route
from quintant.cluster.store import Store, Table

GROUP = "rbac.authorization.k8s.io"
_BARE = b'{"metadata":{"resourceVersion":"0'


class Authorizer(Protocol):
    """Decides whether a user may do what a request asks."""

    def allows(self, user: User, route: Route) -> bool: ...

    def forget(self) -> None:
        """Drop what was learnt from the store: its contents were exchanged."""


class AllowAll:
    """Everybody may do everything."""

    def allows(self, user: User, route: Route) -> bool:
        return True

    def forget(self) -> None:
        """Nothing was learnt."""


class Rule(msgspec.Struct, frozen=True, rename="camel"):
    """One rule of a role."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")

    def allows(self, route: Route) -> bool:
        """Whether the rule covers a request."""
        if not _listed(route.verb, self.verbs):
            return False
        if not route.resource:
            return any(_covers(pattern, route.path) for pattern in self.non_resource_urls)
        if not _listed(route.group, self.api_groups) or not self._names(route):
            return False
        return any(_same_resource(pattern, route) for pattern in self.resources)

    def _names(self, route: Route) -> bool:
        return not self.resource_names or route.name in self.resource_names


class Subject(msgspec.Struct, frozen=True):
    """Whom a binding is about."""

    kind: str = ""
    name: str = ""
    namespace: str = ""

    def means(self, user: User, default: str) -> bool:
        """Whether the user is meant; `default` is the binding's own namespace."""
        match self.kind:
            case "User":
                return self.name == user.name
            case "Group":
                return self.name in user.groups
        return user.account == (self.namespace or default, self.name)


class RoleRef(msgspec.Struct, frozen=True):
    kind: str = ""
    name: str = ""


class Binding(msgspec.Struct, frozen=True, rename="camel"):
    """Who is given which role."""

    subjects: tuple[Subject, ...] | None = None
    role_ref: RoleRef = RoleRef()


class Role(msgspec.Struct, frozen=True):
    rules: tuple[Rule, ...] | None = None


class Rbac:
    """Role-based access control from the objects of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._roles: dict[tuple[str, str], tuple[Rule, ...]] = {}
        self._bindings: dict[str, list[tuple[str, Binding]]] = {}
        store.subscribe(self._told)

    def allows(self, user: User, route: Route) -> bool:
        """Whether some role bound to the user covers the request."""
        if MASTERS in user.groups:
            return True
        return any(rule.allows(route) for rule in self._rules(user, route.namespace))

    def forget(self) -> None:
        """Read everything anew."""
        self._roles.clear()
        self._bindings.clear()

    def _rules(self, user: User, namespace: str) -> Iterator[Rule]:
        for _, binding in self._bound("clusterrolebindings"):
            if _meant(binding, user, ""):
                yield from self._role("clusterroles", binding.role_ref.name)
        for where, binding in self._bound("rolebindings") if namespace else ():
            if where == namespace and _meant(binding, user, where):
                yield from self._referred(binding.role_ref, where)

    def _referred(self, ref: RoleRef, namespace: str) -> tuple[Rule, ...]:
        if ref.kind == "ClusterRole":
            return self._role("clusterroles", ref.name)
        return self._role("roles", f"{namespace}/{ref.name}")

    def _role(self, plural: str, key: str) -> tuple[Rule, ...]:
        found = self._roles.get((plural, key))
        if found is None:
            entry = self._table(plural).entries.get(key)
            role = _decode(entry.raw, Role) if entry else Role()
            found = self._roles[plural, key] = role.rules or ()
        return found

    def _bound(self, plural: str) -> list[tuple[str, Binding]]:
        found = self._bindings.get(plural)
        if found is None:
            entries = self._table(plural).entries.items()
            found = self._bindings[plural] = [
                (key.rpartition("/")[0], _decode(entry.raw, Binding)) for key, entry in entries
            ]
        return found

    def _table(self, plural: str) -> Table:
        return self._store.table(f"{plural}.{GROUP}")

    def _told(self, table: Table, change: Change) -> None:
        if table.name.endswith(GROUP):
            self.forget()


def impersonation(other: User, headers: Mapping[str, str]) -> Iterator[Route]:
    """What somebody must be allowed to do in order to act as another user."""
    account = other.account
    if account is None:
        yield Route("impersonate", "", resource="users", name=other.name)
    else:
        namespace, name = account
        yield Route("impersonate", "", resource="serviceaccounts", namespace=namespace, name=name)
    for group in sorted(asked_groups(headers)):
        yield Route("impersonate", "", resource="groups", name=group)


def denied(user: User, route: Route) -> Problem:
    """403, saying what the user lacks."""
    if not route.resource:
        return forbidden_path(user.name, route.verb, route.path)
    where = f'in the namespace "{route.namespace}"' if route.namespace else "at the cluster scope"
    full = f"{route.resource}.{route.group}" if route.group else route.resource
    named = f' "{route.name}"' if route.name else ""
    text = (
        f'{full}{named} is forbidden: User "{user.name}" cannot {route.verb} resource '
        f'"{route.full_resource}" in API group "{route.group}" {where}'
    )
    details = {"name": route.name, "group": route.group, "kind": route.resource}
    return Problem(403, "Forbidden", text, {key: value for key, value in details.items() if value})


def _meant(binding: Binding, user: User, namespace: str) -> bool:
    return any(subject.means(user, namespace) for subject in binding.subjects or ())


def _decode(raw: bytes, model: type[Any]) -> Any:
    return msgspec.json.decode(_BARE + raw, type=model)


def _listed(word: str, words: tuple[str, ...]) -> bool:
    return word in words or "*" in words


def _covers(pattern: str, path: str) -> bool:
    return pattern in ("*", path) or (pattern.endswith("*") and path.startswith(pattern[:-1]))


def _same_resource(pattern: str, route: Route) -> bool:
    if pattern in ("*", route.full_resource):
        return True
    return bool(route.sub) and pattern == f"*/{route.sub}"
