"""The permissions a manager needs, read off its declarations, and not one more.

    controls  get list watch patch, patch of the status, update of finalizers
    owns      get list watch create patch delete
    watches   get list watch
    uses      whatever it names

Events come with every controller, the lease with leader election, and with certificates of its own
the Secret they are in and the objects that say whom to trust. Where a manager is restricted to
namespaces, it gets a Role in each of them and a ClusterRole only for kinds that have no namespace.
The result is a pure function of the declarations: sorted, merged, the same every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from quintant.api.coordination import Lease
from quintant.api.core import Secret, ServiceAccount
from quintant.api.events import Event
from quintant.api.rbac import (
    GROUP,
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    Role,
    RoleBinding,
    RoleRef,
    Subject,
)
from quintant.core.object import Object, ObjectMeta
from quintant.core.resource import resource_of
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.events.series import DEFAULT_NAMESPACE
from quintant.runtime.manager.permissions import Permission, Permissions, policy_rules
from quintant.runtime.settings import Settings

READ = ("get", "list", "watch")
NAME_LABEL = "app.kubernetes.io/name"

Target = tuple[type[Object], str]
"""Kind and name of a single object."""


class RoleSubject(Struct, frozen=True):
    """Who gets the permissions: a manager's name, its own namespace, and where it works."""

    name: str
    namespace: str
    namespaces: tuple[str, ...] = ()
    """The only namespaces it works in; empty means all."""
    leader_elect: bool = True

    def meta(self, namespace: str = "", suffix: str = "") -> ObjectMeta:
        return ObjectMeta(
            name=self.name + suffix, namespace=namespace, labels={NAME_LABEL: self.name}
        )


def control_permissions(kind: type[Object]) -> Permissions:
    """What the controller of a kind needs on it."""
    status = (
        verb_permissions(kind, "patch", sub="status") if resource_of(kind).status else Permissions()
    )
    # Clusters may refuse an owner reference that blocks the owner's deletion without this one.
    return (
        verb_permissions(kind, *READ, "patch")
        | status
        | verb_permissions(kind, "update", sub="finalizers")
    )


def owner_permissions(kind: type[Object]) -> Permissions:
    """What the owner of children of a kind needs on them."""
    return verb_permissions(kind, *READ, "create", "patch", "delete")


def watch_permissions(kind: type[Object]) -> Permissions:
    """What it takes to follow a kind."""
    return verb_permissions(kind, *READ)


def verb_permissions(kind: type[Object], *verbs: str, sub: str = "") -> Permissions:
    """The permission for single verbs, on a subresource if one is named."""
    resource = resource_of(kind)
    name = f"{resource.plural}/{sub}" if sub else resource.plural
    return Permissions(
        Permission(resource.group, name, verb, resource.namespaced) for verb in verbs
    )


def required_permissions(declarations: Iterable[Declaration[Any]]) -> Permissions:
    """Everything that these controllers need, events included."""
    found = [_needs(declared) for declared in declarations]
    events = verb_permissions(Event, "create", "patch") if found else Permissions()
    return events.union(*found)


def rbac_objects(subject: RoleSubject, permissions: Permissions) -> tuple[Object, ...]:
    """The service account, the roles and their bindings, ready to be applied."""
    account = ServiceAccount(metadata=subject.meta(subject.namespace))
    leases = _leases(subject) if subject.leader_elect else ()
    if not subject.namespaces:
        return (account, *_everywhere(subject, permissions), *leases)
    local = Permissions(held for held in permissions if held.namespaced)
    places = dict.fromkeys(subject.namespaces, local)
    wide = permissions - local
    if wide:
        # Events about objects without a namespace are written to the default one.
        places.setdefault(DEFAULT_NAMESPACE, local & verb_permissions(Event, "create", "patch"))
    within = [_within(subject, policy_rules(held), place) for place, held in sorted(places.items())]
    cluster = _everywhere(subject, wide) if wide else ()
    return (account, *cluster, *(obj for pair in within for obj in pair), *leases)


def manager_rbac(
    settings: Settings,
    declarations: Iterable[Declaration[Any]],
    namespace: str,
    targets: Sequence[Target] = (),
) -> tuple[Object, ...]:
    """Everything that gives a manager its permissions, if it lives in this namespace.

    `targets` are those of its webhooks; they matter where it has certificates of its own.
    """
    subject = RoleSubject(settings.name, namespace, settings.namespaces, settings.leader_elect)
    keys = _certificates(subject, settings.webhook_secret, targets) if targets else ()
    return (*rbac_objects(subject, required_permissions(declarations)), *keys)


def _needs(declared: Declaration[Any]) -> Permissions:
    primary = control_permissions(declared.kind) if declared.kind is not None else Permissions()
    watched = [
        owner_permissions(w.kind) if w.owned else watch_permissions(w.kind)
        for w in declared.watches
    ]
    used = [verb_permissions(use.kind, *use.verbs, sub=use.sub) for use in declared.uses]
    return primary.union(*watched, *used)


def _leases(subject: RoleSubject) -> tuple[Object, ...]:
    # A name cannot restrict creation: the server does not know it yet when it decides.
    create = policy_rules(verb_permissions(Lease, "create"))
    own = _named(Lease, ("get", "patch"), subject.name)
    return _within(subject, (*create, own), subject.namespace, "-leader-election")


def _certificates(
    subject: RoleSubject, secret: str, targets: Sequence[Target]
) -> tuple[Object, ...]:
    if not secret:
        return ()
    # Server-side apply says which name it creates, so here a name can restrict it.
    own = _named(Secret, ("create", "get", "patch"), secret)
    trusting = tuple(_named(kind, ("get", "patch"), name) for kind, name in targets)
    return (
        *_within(subject, (own,), subject.namespace, "-webhooks"),
        *_across(subject, trusting, "-webhooks"),
    )


def _named(kind: type[Object], verbs: tuple[str, ...], name: str) -> PolicyRule:
    resource = resource_of(kind)
    return PolicyRule(
        api_groups=(resource.group,), resources=(resource.plural,), verbs=verbs,
        resource_names=(name,),
    )  # fmt: skip


def _within(
    subject: RoleSubject, granted: tuple[PolicyRule, ...], namespace: str, suffix: str = ""
) -> tuple[Object, ...]:
    meta = subject.meta(namespace, suffix)
    binding = RoleBinding(
        metadata=meta,
        role_ref=RoleRef(api_group=GROUP, kind="Role", name=meta.name),
        subjects=(_subject(subject),),
    )
    return Role(metadata=meta, rules=granted), binding


def _everywhere(subject: RoleSubject, permissions: Permissions) -> tuple[Object, ...]:
    return _across(subject, policy_rules(permissions))


def _across(
    subject: RoleSubject, granted: tuple[PolicyRule, ...], suffix: str = ""
) -> tuple[Object, ...]:
    meta = subject.meta(suffix=suffix)
    binding = ClusterRoleBinding(
        metadata=meta,
        role_ref=RoleRef(api_group=GROUP, kind="ClusterRole", name=meta.name),
        subjects=(_subject(subject),),
    )
    return ClusterRole(metadata=meta, rules=granted), binding


def _subject(subject: RoleSubject) -> Subject:
    return Subject(kind="ServiceAccount", name=subject.name, namespace=subject.namespace)
