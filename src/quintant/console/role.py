"""What a console needs to be allowed: to get, list and watch what it shows, and nothing else.

Neither Secrets nor ConfigMaps are among it, and no way to a pod: figures of operators need one, and
have a role of their own. Kinds of strangers are for their cluster's owner to add: without, their
panels say that they may not be read. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.api.core import ServiceAccount
from quintant.api.rbac import (
    GROUP,
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    RoleBinding,
    RoleRef,
    Subject,
)
from quintant.console.boards.events import BUILT_IN, EVENTS
from quintant.core.object import Object, ObjectMeta
from quintant.core.resource import Resource, resource_of
from quintant.runtime.manager.rbac import NAME_LABEL
from quintant.runtime.observe.system_panel import SystemPanel

NAME = "quintant-console"
READING = ("get", "list", "watch")
REVIEWS = (
    PolicyRule(
        verbs=("create",), api_groups=("authentication.k8s.io",), resources=("tokenreviews",)
    ),
    PolicyRule(
        verbs=("create",),
        api_groups=("authorization.k8s.io",),
        resources=("subjectaccessreviews",),
    ),
)
"""For --kubernetes-auth."""
LEADERS = PolicyRule(verbs=("get",), api_groups=("coordination.k8s.io",), resources=("leases",))
"""For who leads."""
FIGURES = f"{NAME}-figures"
PROXY = PolicyRule(verbs=("get",), api_groups=("",), resources=("pods/proxy",))
"""For figures of operators, which their pods serve. A role of its own: it reaches pods."""


def shown_resources(panels: Iterable[SystemPanel]) -> list[Resource]:
    """Every kind that a console follows or has pages of."""
    kinds = [resource_of(kind.kind) for panel in panels for kind in panel.kinds]
    return [resource_of(CustomResourceDefinition), EVENTS, *BUILT_IN.values(), *kinds]


def console_rules(
    panels: Iterable[SystemPanel], *, reviews: bool = False
) -> tuple[PolicyRule, ...]:
    """The rules of its role; with `reviews` it may ask who users are, and what they may list."""
    by_group: dict[str, set[str]] = defaultdict(set)
    for resource in shown_resources(panels):
        by_group[resource.group].add(resource.plural)
    reading = tuple(
        PolicyRule(verbs=READING, api_groups=(group,), resources=tuple(sorted(plurals)))
        for group, plurals in sorted(by_group.items())
    )
    return (*reading, LEADERS, *(REVIEWS if reviews else ()))


def console_rbac(
    panels: Iterable[SystemPanel], namespace: str, *, reviews: bool = False
) -> tuple[Object, ...]:
    """Its account, role and binding, ready to be applied."""
    meta = ObjectMeta(name=NAME, labels={NAME_LABEL: NAME})
    account = ObjectMeta(name=NAME, namespace=namespace, labels={NAME_LABEL: NAME})
    return (
        ServiceAccount(metadata=account),
        ClusterRole(metadata=meta, rules=console_rules(panels, reviews=reviews)),
        ClusterRoleBinding(
            metadata=meta,
            role_ref=RoleRef(kind="ClusterRole", name=NAME, api_group=GROUP),
            subjects=(Subject(kind="ServiceAccount", name=NAME, namespace=namespace),),
        ),
    )


def figures_rbac(operators: Iterable[str], namespace: str) -> tuple[Object, ...]:
    """A role to read metrics of operators, in the namespaces where those run and nowhere else."""
    labels = {NAME_LABEL: NAME}
    role = RoleRef(kind="ClusterRole", name=FIGURES, api_group=GROUP)
    console = Subject(kind="ServiceAccount", name=NAME, namespace=namespace)
    bindings = (
        RoleBinding(
            metadata=ObjectMeta(name=FIGURES, namespace=each, labels=labels),
            role_ref=role,
            subjects=(console,),
        )
        for each in operators
    )
    meta = ObjectMeta(name=FIGURES, labels=labels)
    return (ClusterRole(metadata=meta, rules=(PROXY,)), *bindings)
