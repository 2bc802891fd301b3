"""Children of the object that is handled: `kopf.adopt`, `kopf.label`, and the steps of them.

Children are plain mappings, or objects that have one inside (`obj`); what is neither is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from quintant.kopf.declare.contexts import current_cause
from quintant.kopf.values.body import owner_reference
from quintant.kopf.values.fields import ensure, parse_field, resolve, walk


def adopt(
    objs: Any,
    owner: Any = None,
    *,
    forced: bool = False,
    strict: bool = False,
    nested: Any = None,
) -> None:
    """Give children the owner, the namespace, the name and the labels of an object."""
    parent = _owner(owner)
    append_owner_reference(objs, owner=parent)
    meta = parent.get("metadata") or {}
    harmonize_naming(objs, name=meta.get("name"), forced=forced, strict=strict)
    adjust_namespace(objs, namespace=meta.get("namespace"), forced=forced)
    label(objs, labels=dict(meta.get("labels") or {}), nested=nested, forced=forced)


def label(objs: Any, labels: Any = None, *, forced: bool = False, nested: Any = None) -> None:
    """Give children labels; one that is there stays, unless it is forced."""
    if labels is None:
        labels = resolve(_owner(None), ("metadata", "labels"), {}) or {}
    for obj in _children(objs):
        for target in (obj, *_nested(obj, nested)):
            meta = target.setdefault("metadata", {})
            held = meta.setdefault("labels", {})
            for key, value in labels.items():
                if forced or key not in held:
                    held[key] = value


def harmonize_naming(
    objs: Any, name: Any = None, *, forced: bool = False, strict: bool = False
) -> None:
    """Give children without a name one that begins with the owner's; with `strict`, just that."""
    name = resolve(_owner(None), ("metadata", "name")) if name is None else name
    for obj in _children(objs):
        meta = obj.setdefault("metadata", {})
        if not forced and (meta.get("name") or meta.get("generateName")):
            continue
        if strict:
            meta.pop("generateName", None)
            meta["name"] = name
        else:
            meta.pop("name", None)
            meta["generateName"] = f"{name}-"


def adjust_namespace(objs: Any, namespace: Any = None, *, forced: bool = False) -> None:
    """Put children without a namespace into the owner's."""
    if namespace is None:
        namespace = resolve(_owner(None), ("metadata", "namespace"))
    for obj in _children(objs):
        meta = obj.setdefault("metadata", {})
        if forced or meta.get("namespace") is None:
            meta["namespace"] = namespace


def append_owner_reference(
    objs: Any,
    owner: Any = None,
    *,
    controller: bool | None = True,
    block_owner_deletion: bool | None = True,
) -> None:
    """Have children go with an object."""
    made = owner_reference(
        _owner(owner), controller=controller, block_owner_deletion=block_owner_deletion
    )
    for obj in _children(objs):
        references = obj.setdefault("metadata", {}).setdefault("ownerReferences", [])
        if all(each.get("uid") != made["uid"] for each in references):
            references.append(made)


def remove_owner_reference(objs: Any, owner: Any = None) -> None:
    """Have children stay when an object goes."""
    uid = owner_reference(_owner(owner)).get("uid")
    for obj in _children(objs):
        references = obj.setdefault("metadata", {}).setdefault("ownerReferences", [])
        references[:] = [each for each in references if each.get("uid") != uid]


def _owner(owner: Any) -> Mapping[str, Any]:
    if owner is not None:
        found: Mapping[str, Any] = next(iter(walk(owner)))
        return found
    cause = current_cause.get()
    if cause is None or not hasattr(cause, "body"):
        raise LookupError("no object is being handled: name the owner")
    body: Mapping[str, Any] = cause.body
    return body


def _children(objs: Any) -> Iterable[MutableMapping[str, Any]]:
    for obj in walk(objs):
        if not isinstance(obj, MutableMapping):
            raise TypeError(
                f"a child is a mapping, or has one as `obj`, not a {type(obj).__name__}"
            )
        yield obj


def _nested(obj: MutableMapping[str, Any], nested: Any) -> Iterable[MutableMapping[str, Any]]:
    fields = [nested] if isinstance(nested, str) else nested or ()
    for field in fields:
        path = parse_field(field)
        if resolve(obj, path) is None and resolve(obj, path[:-1]) is not None:
            ensure(obj, path, {})
        found = resolve(obj, path)
        if isinstance(found, MutableMapping):
            yield found
