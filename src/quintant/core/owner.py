"""Whose an object is: owner references and labels, as pure functions on frozen objects.

An object has at most one owner that manages it, its controller, and identity is the uid: a namesake
created later is another owner. An owner in the child's namespace, or in none, is named by a
reference, and the cluster's garbage collector knows of it. One in another namespace is named by a
label with its uid and an annotation with its name; of that only the owner's own controller knows.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, structs

from quintant.core.errors import ConfigError
from quintant.core.object import K, Object, OwnerReference, replace
from quintant.core.resource import Resource, resource_of

OWNER_UID = "quintant.dev/owner-uid"
"""The label of a child whose owner is in another namespace: the owner's uid."""

OWNER = "quintant.dev/owner"
"""The annotation beside it: `Kind.group/namespace/name` of the owner."""


class Owner(Struct, frozen=True):
    """The one that manages an object, as the object names it."""

    group: str
    kind: str
    namespace: str
    """Of the owner, if it has one: a reference has none."""
    name: str
    uid: str

    def is_namesake_of(self, other: Owner) -> bool:
        """Whether both have one kind and name: it is the same, or one came after the other."""
        return structs.replace(self, uid=other.uid) == other

    def is_named_as(self, other: Object) -> bool:
        """Whether `other` has this kind and name: it is the owner, or a namesake of it."""
        resource, meta = resource_of(type(other)), other.metadata
        here = not resource.namespaced or self.namespace == meta.namespace
        same = (self.group, self.kind, self.name) == (resource.group, resource.kind, meta.name)
        return here and same


def owned(child: K, *, by: Object, across_namespaces: bool = False) -> K:
    """`child` with `by` as its controller: deleted with it, and its changes wake its reconciler.

    With `across_namespaces` the owner may be in another namespace: the child is then labelled, and
    goes when the owner's controller sees that the owner is gone. ConfigError when the owner was
    never stored, lives in another namespace without that, or `child` has another controller.
    """
    apart = _is_apart(child, by)
    _check(child, by, apart and not across_namespaces)
    if apart:
        return _labelled(child, by)
    mine, references = _reference(by), child.metadata.owner_references
    if references:
        references = tuple(ref for ref in references if ref.uid != mine.uid)
    meta = structs.replace(child.metadata, owner_references=(*references, mine))  # type: ignore[type-var]
    return structs.replace(child, metadata=meta)  # type: ignore[type-var]


def owner_of(obj: Object) -> Owner | None:
    """The one owner that manages `obj`, by reference or by label, or None."""
    held, meta = controller_of(obj), obj.metadata
    if held is None and OWNER_UID not in meta.labels:
        return None
    if held is not None:
        group = held.api_version.rpartition("/")[0]
        return Owner(group, held.kind, meta.namespace, held.name, held.uid)
    uid, owner = meta.labels.get(OWNER_UID), owner_name_of(obj)
    if not uid or not owner:
        return None
    title, namespace, name = owner.split("/")
    kind, _, group = title.partition(".")
    return Owner(group, kind, namespace, name, uid)


def owner_uid_of(obj: Object) -> str:
    """The uid of the one owner that manages `obj`; empty if there is none."""
    for reference in obj.metadata.owner_references:  # every event of an owned kind passes here
        if reference.controller:
            return reference.uid
    labels = obj.metadata.labels
    return labels[OWNER_UID] if OWNER_UID in labels and owner_name_of(obj) else ""


def owner_name_of(obj: Object) -> str:
    """What `owner_name` gives of the owner of a child that is labelled; empty for any other."""
    meta = obj.metadata
    if OWNER_UID not in meta.labels or controller_of(obj) is not None:
        return ""
    name = meta.annotations.get(OWNER, "")
    return name if name.count("/") == 2 and all(name.split("/")) else ""


def owner_name(resource: Resource, name: str, namespace: str) -> str:
    """How a labelled child names its owner."""
    title = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    return f"{title}/{namespace}/{name}"


def has_owner(obj: Object, owner: Object) -> bool:
    """Whether `owner`, by its uid, is among the owners of `obj`."""
    return any(ref.uid == owner.metadata.uid for ref in obj.metadata.owner_references)


def controller_of(obj: Object) -> OwnerReference | None:
    """The one owner that manages `obj`, or None."""
    for reference in obj.metadata.owner_references:
        if reference.controller:
            return reference
    return None


def with_labels(obj: K, labels: Mapping[str, str] | None = None, /, **more: str) -> K:
    """`obj` with labels added; keys that are no Python names go into the mapping."""
    merged = {**obj.metadata.labels, **(labels or {}), **more}
    return replace(obj, metadata=replace(obj.metadata, labels=merged))


def _reference(owner: Object) -> OwnerReference:
    resource = resource_of(type(owner))
    return OwnerReference(
        api_version=resource.api_version,
        kind=resource.kind,
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        controller=True,
        block_owner_deletion=True,
    )


def _is_apart(child: Object, owner: Object) -> bool:
    apart = owner.metadata.namespace != child.metadata.namespace
    return resource_of(type(owner)).namespaced and apart


def _labelled(child: K, owner: Object) -> K:
    meta, by = child.metadata, owner.metadata
    name = owner_name(resource_of(type(owner)), by.name, by.namespace)
    return replace(
        child,
        metadata=replace(
            meta,
            labels={**meta.labels, OWNER_UID: by.uid},
            annotations={**meta.annotations, OWNER: name},
        ),
    )


def _check(child: Object, owner: Object, too_far: bool) -> None:
    if not owner.metadata.uid:
        raise _refusal(
            child,
            owner,
            because="the owner has no uid: it was never stored",
            hint="create it first and use the object that comes back",
        )
    nowhere = resource_of(type(child)).namespaced and not child.metadata.namespace
    if too_far or (nowhere and _is_apart(child, owner)):
        raise _refusal(
            child,
            owner,
            because="an owner must be in its child's namespace, or cluster-scoped",
            hint="ObjectMeta.like(owner) gives the child the owner's namespace; if it is to be in "
            "another one, name that, and say across_namespaces=True",
        )
    meta = child.metadata
    # As a rule the child is new, and has no owner at all.
    held = owner_of(child) if meta.owner_references or meta.labels else None
    if held is not None and held.uid != owner.metadata.uid:
        raise _refusal(
            child,
            owner,
            because=f"{held.kind} {held.name} controls it already, and there is one controller",
            hint="give the child another name, or leave it to its controller",
        )


def _refusal(child: Object, owner: Object, *, because: str, hint: str) -> ConfigError:
    what = f"cannot make {_label(owner)} the owner of {_label(child)}"
    return ConfigError(what, because=because, hint=hint)


def _label(obj: Object) -> str:
    return f"{resource_of(type(obj)).kind} {obj.key}"
