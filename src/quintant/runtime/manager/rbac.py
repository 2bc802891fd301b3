"""The permissions a manager needs, read off its declarations, and not one more.

    controls  get list watch patch, patch of the status, update of finalizers if it creates anything
    owns      get list watch create patch delete
    watches   get list watch
    uses      whatever it names

Each where the declaration says: in the namespaces of its kind, in those of the manager, or
everywhere. Events come with every controller, where its objects are; the lease with leader
election, and with certificates of its own the Secret they are in and the objects that say whom to
trust. What is for a namespace is granted by a Role there, all else by a ClusterRole. A part of a
manager has roles of its own. The result is a pure function of the declarations: sorted, merged, the
same every time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from quintant.api.coordination import Lease
from quintant.api.core import Namespace, Secret, ServiceAccount
from quintant.api.events import Event
from quintant.api.kubernetes.authentication_v1 import TokenReview
from quintant.api.kubernetes.authorization_v1 import SubjectAccessReview
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
from quintant.core.object import Metadata, Object, ObjectMeta
from quintant.core.resource import resource_of
from quintant.runtime.controller.declaration import Declaration, PermissionUse, WatchDeclaration
from quintant.runtime.events.series import DEFAULT_NAMESPACE
from quintant.runtime.manager.permissions import (
    Permission,
    Permissions,
    beyond,
    control_permissions,
    owner_permissions,
    policy_rules,
    verb_permissions,
    watch_permissions,
)
from quintant.runtime.settings import Settings

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
    shards: bool = False

    def meta(self, namespace: str = "", suffix: str = "") -> ObjectMeta:
        return ObjectMeta(
            name=self.name + suffix, namespace=namespace, labels={NAME_LABEL: self.name}
        )


def required_permissions(declarations: Iterable[Declaration[Any]]) -> Permissions:
    """Everything that these controllers need, events included."""
    return Permissions().union(*(_needs(declared) for declared in declarations))


def rbac_objects(subject: RoleSubject, permissions: Permissions) -> tuple[Object, ...]:
    """The service account, the roles and their bindings, ready to be applied."""
    account = ServiceAccount(metadata=subject.meta(subject.namespace))
    leases = _leases(subject) if subject.leader_elect or subject.shards else ()
    return (account, *_roles(subject, _placed(subject, permissions)), *leases)


def part_rbac(
    subject: RoleSubject, whole: Permissions, part: str, permissions: Permissions
) -> tuple[Object, ...]:
    """The roles of a part, and their bindings: what it needs beyond the `whole` that is there."""
    there = _placed(subject, whole)
    everywhere = there.get("", Permissions())
    extra = {
        namespace: beyond(wanted, everywhere | there.get(namespace, Permissions()))
        for namespace, wanted in _placed(subject, permissions).items()
    }
    return _roles(subject, extra, f"-{part}")


def manager_rbac(
    settings: Settings,
    declarations: Iterable[Declaration[Any]],
    namespace: str,
    targets: Sequence[Target] = (),
    own: Permissions = Permissions(),
) -> tuple[Object, ...]:
    """Everything that gives a manager its permissions, if it lives in this namespace.

    `targets` are those of its webhooks; they matter where it has certificates of its own. `own` is
    what its program needs, beside its controllers.
    """
    subject = role_subject(settings, namespace)
    needed = _by_part(declarations)
    whole = needed.pop("", Permissions()) | own | setting_permissions(settings)
    parts = [part_rbac(subject, whole, part, needed[part]) for part in sorted(needed)]
    keys = _certificates(subject, settings.webhook_secret, targets) if targets else ()
    return (*rbac_objects(subject, whole), *(obj for found in parts for obj in found), *keys)


def other_cluster_rbac(
    settings: Settings, declarations: Iterable[Declaration[Any]], namespace: str
) -> tuple[Object, ...]:
    """What a manager needs in a cluster that it works in and does not live in: no lease."""
    needed = required_permissions(declared for declared in declarations if declared.others)
    subject = role_subject(replace(settings, leader_elect=False, shards=None), namespace)
    watched = watch_permissions(Metadata[Namespace]) if settings.selector else Permissions()
    return rbac_objects(subject, needed | watched)


def setting_permissions(settings: Settings) -> Permissions:
    """What a manager needs for its settings, whatever it controls."""
    found = watch_permissions(Metadata[Namespace]) if settings.selector else Permissions()
    if settings.metrics_auth:
        found |= verb_permissions(TokenReview, "create")
        found |= verb_permissions(SubjectAccessReview, "create")
    return found.union(*map(_used, settings.uses))


def role_subject(settings: Settings, namespace: str) -> RoleSubject:
    """A manager with these settings that lives in a namespace."""
    return RoleSubject(
        settings.name,
        namespace,
        settings.namespaces,
        settings.leader_elect,
        settings.shards is not None,
    )


def _by_part(declarations: Iterable[Declaration[Any]]) -> dict[str, Permissions]:
    found: dict[str, Permissions] = {}
    for declared in filter(_is_at_home, declarations):
        found[declared.part] = found.get(declared.part, Permissions()) | _needs(declared)
    return found


def _is_at_home(declared: Declaration[Any]) -> bool:
    return declared.home


def _needs(declared: Declaration[Any]) -> Permissions:
    primary = (
        control_permissions(declared.kind, declared.namespaces, owner=_creates(declared))
        if declared.kind is not None
        else Permissions()
    )
    watched = [_watched(watch) for watch in declared.watches]
    used = [_used(use) for use in declared.uses]
    events = verb_permissions(Event, "create", "patch", namespaces=_event_namespaces(declared))
    return primary.union(*watched, *used, events)


def _creates(declared: Declaration[Any]) -> bool:
    """Whether a controller may create anything, and so set an owner reference."""
    owned = any(watch.owned for watch in declared.watches)
    return owned or any("create" in use.verbs for use in declared.uses)


def _watched(watch: WatchDeclaration) -> Permissions:
    if watch.owned:
        return owner_permissions(watch.kind, watch.namespaces)
    # The server takes a selection of one name for that name, when it asks what a user may do.
    name = watch.fields.get("metadata.name", "")
    return watch_permissions(watch.kind, watch.namespaces, (name,) if name else ())


def _used(use: PermissionUse) -> Permissions:
    return verb_permissions(
        use.kind, *use.verbs, sub=use.sub, namespaces=use.namespaces, names=use.names
    )


def _event_namespaces(declared: Declaration[Any]) -> tuple[str, ...]:
    """Namespaces of the objects that a controller records events of; empty is its manager's."""
    seen = [(watch.kind, watch.namespaces) for watch in declared.watches]
    if declared.kind is not None:
        seen.append((declared.kind, declared.namespaces))
    local = [namespaces for kind, namespaces in seen if resource_of(kind).namespaced]
    if not seen or not all(local):
        return ()
    # Events about objects without a namespace are written to the default one.
    wide = (DEFAULT_NAMESPACE,) if len(local) < len(seen) else ()
    return tuple(sorted({*wide, *(name for namespaces in local for name in namespaces)}))


def _placed(subject: RoleSubject, permissions: Permissions) -> Mapping[str, Permissions]:
    """What the role of each namespace grants; that of no namespace is the ClusterRole."""
    found: dict[str, set[Permission]] = defaultdict(set)
    for held in permissions:
        for namespace in _role_namespaces(subject, held):
            found[namespace].add(held._replace(namespace=""))
    everywhere = Permissions(found.pop("", ()))
    local = {name: beyond(Permissions(held), everywhere) for name, held in sorted(found.items())}
    return {"": everywhere, **local}


def _role_namespaces(subject: RoleSubject, held: Permission) -> Sequence[str]:
    if not held.namespaced:
        return ("",)
    return (held.namespace,) if held.namespace else subject.namespaces or ("",)


def _roles(
    subject: RoleSubject, placed: Mapping[str, Permissions], suffix: str = ""
) -> tuple[Object, ...]:
    found: list[Object] = []
    for namespace, held in placed.items():
        if held and namespace:
            found += _within(subject, policy_rules(held), namespace, suffix)
        elif held:
            found += _across(subject, policy_rules(held), suffix)
    return tuple(found)


def _leases(subject: RoleSubject) -> tuple[Object, ...]:
    if subject.shards:
        # Members have names of their own, and each buries the others.
        verbs = ("create", "delete", "get", "list", "patch", "watch")
        every = policy_rules(verb_permissions(Lease, *verbs))
        return _within(subject, every, subject.namespace, "-shards")
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
