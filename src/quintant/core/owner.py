"""Whose an object is: owner references and labels, as pure functions on frozen objects.

An owner lives in its child's namespace or in none, an object has at most one controller, and
identity is the uid: a namesake created later is somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintant.core.errors import ConfigError
from quintant.core.object import K, Object, OwnerReference, replace
from quintant.core.resource import resource_of


def owned(child: K, *, by: Object) -> K:
    """`child` with `by` as its controller: deleted with it, and its changes wake its reconciler.

    ConfigError when the owner was never stored, lives in another namespace, or `child` already
    has another controller.
    """
    _check(child, by)
    mine = _reference(by)
    others = tuple(ref for ref in child.metadata.owner_references if ref.uid != mine.uid)
    return replace(child, metadata=replace(child.metadata, owner_references=(*others, mine)))


def has_owner(obj: Object, owner: Object) -> bool:
    """Whether `owner`, by its uid, is among the owners of `obj`."""
    return any(ref.uid == owner.metadata.uid for ref in obj.metadata.owner_references)


def controller_of(obj: Object) -> OwnerReference | None:
    """The one owner that manages `obj`, or None."""
    for reference in obj.metadata.owner_references:  # every event of an owned kind passes here
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


def _check(child: Object, owner: Object) -> None:
    if not owner.metadata.uid:
        raise _refusal(
            child,
            owner,
            because="the owner has no uid: it was never stored",
            hint="create it first and use the object that comes back",
        )
    if resource_of(type(owner)).namespaced and owner.metadata.namespace != child.metadata.namespace:
        raise _refusal(
            child,
            owner,
            because="an owner must be in its child's namespace, or cluster-scoped",
            hint="ObjectMeta.like(owner) gives the child the owner's namespace; "
            "across namespaces, clean up in a finalizer",
        )
    held = controller_of(child)
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
