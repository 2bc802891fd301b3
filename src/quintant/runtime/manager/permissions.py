"""Permissions and the rules that grant them: values, without anything that needs or checks them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from quintant.api.rbac import PolicyRule


class Permission(NamedTuple):
    """One verb on one resource or subresource, such as `patch` on `deployments/status`."""

    group: str
    resource: str
    verb: str
    namespaced: bool = True


Permissions = frozenset[Permission]


def policy_rules(permissions: Iterable[Permission]) -> tuple[PolicyRule, ...]:
    """The fewest rules that grant exactly these permissions."""
    ordered = sorted({(held.group, held.resource, held.verb) for held in permissions})
    verbs = {
        target: tuple(verb for _, _, verb in held)
        for target, held in groupby(ordered, key=lambda held: held[:2])
    }
    alike = sorted((group, granted, resource) for (group, resource), granted in verbs.items())
    return tuple(
        PolicyRule(
            api_groups=(group,), resources=tuple(name for *_, name in members), verbs=granted
        )
        for (group, granted), members in groupby(alike, key=lambda held: held[:2])
    )
