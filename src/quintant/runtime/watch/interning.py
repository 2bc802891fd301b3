"""Equal strings held once: thousands of cached objects share namespaces, labels, phases, images.

An interner is made per kind from its types: it knows the short string fields of metadata, spec and
status, and replaces each value by the one instance already held.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import force_setattr

from quintant.runtime.codec import relaxed
from quintant.runtime.object import Custom, Metadata, Object, ObjectMeta, OwnerReference

# Fields that differ from object to object by nature; interning them would only cost.
_UNIQUE = {"name", "uid", "resource_version", "generate_name", "message", "pod_ip", "cluster_ip"}


@cache
def interner(kind: type[Object]) -> Callable[[Any], None]:
    """A function that shares the strings of one object with those of all others."""
    parts = [(name, _strings(hint)) for name, hint in _parts(kind) if _strings(hint)]

    def intern(obj: Any) -> None:
        _intern_meta(obj.metadata)
        for part, names in parts:
            inner = getattr(obj, part)
            if inner is not None:
                _intern_fields(inner, names)

    return intern


def _intern_meta(meta: ObjectMeta) -> None:
    force_setattr(meta, "namespace", sys.intern(meta.namespace))  # type: ignore[arg-type]
    if meta.labels:
        shared = {sys.intern(name): sys.intern(value) for name, value in meta.labels.items()}
        force_setattr(meta, "labels", shared)  # type: ignore[arg-type]
    for owner in meta.owner_references:
        _intern_fields(owner, OwnerReference.__struct_fields__[:4])  # type: ignore[attr-defined]


def _intern_fields(struct: Any, names: tuple[str, ...]) -> None:
    for name in names:
        value = getattr(struct, name)
        if value:
            force_setattr(struct, name, sys.intern(value))


def _parts(kind: type[Object]) -> list[tuple[str, Any]]:
    if get_origin(kind) is Metadata:
        return []
    hints = get_type_hints(kind)
    hints |= _custom_parts(kind)
    return [(name, hints[name]) for name in ("spec", "status") if name in hints]


def _custom_parts(kind: type[Object]) -> dict[str, Any]:
    for base in getattr(kind, "__orig_bases__", ()):
        if get_origin(base) is Custom:
            spec, status = get_args(base)
            return {"spec": spec, "status": status}
    return {}


def _strings(hint: Any) -> tuple[str, ...]:
    for option in get_args(hint) or (hint,):
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            return tuple(
                name
                for name, inner in get_type_hints(option).items()
                if name in option.__struct_fields__ and name not in _UNIQUE and _is_text(inner)
            )
    return ()


def _is_text(hint: Any) -> bool:
    options = get_args(relaxed(hint)) or (relaxed(hint),)
    return str in options and set(options) <= {str, type(None)}
