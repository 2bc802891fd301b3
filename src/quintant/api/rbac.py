"""Roles and who has them.

The server writes `null` for a role without rules, so `rules` may be None.
"""

from __future__ import annotations

import msgspec

from quintant.api.meta import LabelSelector
from quintant.core.object import Model, Object
from quintant.core.resource import resource

GROUP = "rbac.authorization.k8s.io"


class PolicyRule(Model):
    """Verbs allowed on resources, or on paths of the server."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")


class Subject(Model):
    """A User, a Group or a ServiceAccount."""

    kind: str
    name: str
    namespace: str = ""
    api_group: str = ""


class RoleRef(Model):
    """The role a binding gives."""

    kind: str
    name: str
    api_group: str = ""


class AggregationRule(Model):
    """Which cluster roles' rules are gathered into this one."""

    cluster_role_selectors: tuple[LabelSelector, ...] = ()


@resource(group=GROUP, version="v1")
class Role(Object):
    """What may be done in one namespace."""

    rules: tuple[PolicyRule, ...] | None = None


@resource(group=GROUP, version="v1", namespaced=False)
class ClusterRole(Object):
    """What may be done anywhere, or in each namespace where it is bound."""

    rules: tuple[PolicyRule, ...] | None = None
    aggregation_rule: AggregationRule | None = None


@resource(group=GROUP, version="v1")
class RoleBinding(Object):
    """Gives a role to subjects within a namespace."""

    role_ref: RoleRef
    subjects: tuple[Subject, ...] = ()


@resource(group=GROUP, version="v1", namespaced=False)
class ClusterRoleBinding(Object):
    """Gives a cluster role to subjects everywhere."""

    role_ref: RoleRef
    subjects: tuple[Subject, ...] = ()
