"""Permissions, what needs them, and the rules that grant them: values, with no effect.

A permission is for one verb on one kind, perhaps in one namespace or on one object alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from quintant.api.rbac import PolicyRule
from quintant.core.object import Object
from quintant.core.resource import resource_of

READ = ("get", "list", "watch")


class Permission(NamedTuple):
    """One verb on one resource or subresource, such as `patch` on `deployments/status`."""

    group: str
    resource: str
    verb: str
    namespaced: bool = True
    namespace: str = ""
    """The one namespace it is for; empty is wherever its holder works."""
    name: str = ""
    """The one object it is for; empty is every object."""


Permissions = frozenset[Permission]


def control_permissions(
    kind: type[Object], namespaces: Sequence[str] = (), *, owner: bool = True
) -> Permissions:
    """What the controller of a kind needs on it; `owner` says whether it may have children."""
    status = (
        verb_permissions(kind, "patch", sub="status", namespaces=namespaces)
        if resource_of(kind).status
        else Permissions()
    )
    # Clusters may refuse an owner reference that blocks the owner's deletion without this one.
    blocking = (
        verb_permissions(kind, "update", sub="finalizers", namespaces=namespaces)
        if owner
        else Permissions()
    )
    return verb_permissions(kind, *READ, "patch", namespaces=namespaces) | status | blocking


def owner_permissions(kind: type[Object], namespaces: Sequence[str] = ()) -> Permissions:
    """What the owner of children of a kind needs on them."""
    return verb_permissions(kind, *READ, "create", "patch", "delete", namespaces=namespaces)


def watch_permissions(
    kind: type[Object], namespaces: Sequence[str] = (), names: Sequence[str] = ()
) -> Permissions:
    """What it takes to follow a kind, or one object of it."""
    return verb_permissions(kind, *READ, namespaces=namespaces, names=names)


def verb_permissions(
    kind: type[Object],
    *verbs: str,
    sub: str = "",
    namespaces: Sequence[str] = (),
    names: Sequence[str] = (),
) -> Permissions:
    """The permission for single verbs, on a subresource if one is named."""
    resource = resource_of(kind)
    title = f"{resource.plural}/{sub}" if sub else resource.plural
    return Permissions(
        Permission(resource.group, title, verb, resource.namespaced, namespace, name)
        for verb in verbs
        for namespace in namespaces or ("",)
        for name in names or ("",)
    )


def beyond(wanted: Permissions, held: Permissions) -> Permissions:
    """What is wanted and not held: who may do it to all objects may do it to one."""
    return Permissions(one for one in wanted if not any(wide in held for wide in _wider(one)))


def policy_rules(permissions: Iterable[Permission]) -> tuple[PolicyRule, ...]:
    """The fewest rules that grant exactly these permissions, in whatever namespace they are for."""
    placed = Permissions(held._replace(namespace="", namespaced=True) for held in permissions)
    general = Permissions(held for held in placed if not held.name)
    return tuple(
        PolicyRule(api_groups=(group,), resources=resources, verbs=verbs, resource_names=names)
        for group, verbs, names, resources in _merged(general | beyond(placed, general))
    )


Rule = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Group, verbs, names and resources."""


def _merged(permissions: Permissions) -> Iterator[Rule]:
    """One rule for resources of a group on which the same verbs are held to the same names."""
    verbs: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for held in permissions:
        verbs[held.group, held.resource, held.name].add(held.verb)
    # Every object is no name among others: a rule for all has no names.
    names: dict[tuple[str, tuple[str, ...], bool, str], set[str]] = defaultdict(set)
    for (group, resource, name), granted in verbs.items():
        names[group, tuple(sorted(granted)), bool(name), resource].add(name)
    alike = sorted(
        (group, granted, tuple(sorted(filter(None, named))), resource)
        for (group, granted, _, resource), named in names.items()
    )
    for (group, granted, named), members in groupby(alike, key=lambda rule: rule[:3]):
        yield group, granted, named, tuple(resource for *_, resource in members)


def _wider(held: Permission) -> Iterator[Permission]:
    for namespace in dict.fromkeys((held.namespace, "")):
        for name in dict.fromkeys((held.name, "")):
            yield held._replace(namespace=namespace, name=name)
