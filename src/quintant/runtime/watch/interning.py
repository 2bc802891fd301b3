"""Equal strings held once: thousands of cached objects share namespaces, labels, phases, images.

An interner is made per kind from its types: it knows the short string fields of metadata, spec and
status, and replaces each value by the one instance already held. It runs before an object enters a
store, while no other code has it: that is why it may write into a frozen value.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import force_setattr

from quintant.core.codec import without_constraints
from quintant.core.object import Custom, Metadata, Object
from quintant.core.resource import transform_of

# Strings held at most. Not sys.intern: some Pythons keep what it is given for ever.
POOL_SIZE = 100_000

# Fields that differ from object to object by nature; interning them would only cost.
_UNIQUE = {"name", "uid", "resource_version", "generate_name", "message", "pod_ip", "cluster_ip"}
# An owner's name and uid are those of all its children.
_OWNER = ("api_version", "kind", "name", "uid")

_pool: dict[str, str] = {}
# Absent labels and annotations: a decoder makes an empty dict for each.
_EMPTY: dict[str, str] = {}


@cache
def interner(kind: type[Object]) -> Callable[[Any], None]:
    """A function that shares the strings of one object with those of all others.

    Of a view that is made of what is read, it shares none: its maker knows which are worth it.
    """
    if transform_of(kind) is not None:
        return lambda _: None
    parts = [(name, _strings(hint)) for name, hint in _parts(kind)]
    parts = [(name, strings) for name, strings in parts if strings]

    def intern(obj: Any) -> None:
        if len(_pool) > POOL_SIZE:
            _pool.clear()
        _intern_meta(obj.metadata)
        for part, names in parts:
            inner = getattr(obj, part)
            if inner is not None:
                _intern_fields(inner, names)

    return intern


def _intern_meta(meta: Any) -> None:
    share = _pool.setdefault
    namespace = meta.namespace
    force_setattr(meta, "namespace", share(namespace, namespace))
    if not meta.annotations:
        force_setattr(meta, "annotations", _EMPTY)
    if not meta.labels:
        force_setattr(meta, "labels", _EMPTY)
    else:
        shared = {share(name, name): share(value, value) for name, value in meta.labels.items()}
        force_setattr(meta, "labels", shared)
    for owner in meta.owner_references:
        _intern_fields(owner, _OWNER)


def _intern_fields(struct: Any, names: tuple[str, ...]) -> None:
    for name in names:
        value = getattr(struct, name)
        if value:
            force_setattr(struct, name, _pool.setdefault(value, value))


def _parts(kind: type[Object]) -> list[tuple[str, Any]]:
    if get_origin(kind) is Metadata:
        return []
    hints = get_type_hints(kind) | _custom_parts(kind)
    return [(name, hints[name]) for name in ("spec", "status") if name in hints]


def _custom_parts(kind: type[Object]) -> dict[str, Any]:
    for base in getattr(kind, "__orig_bases__", ()):
        if get_origin(base) is Custom:
            spec, status = get_args(base)
            return {"spec": spec, "status": status}
    return {}


def _strings(hint: Any) -> tuple[str, ...]:
    for option in _options(hint):
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            hints = get_type_hints(option)
            return tuple(
                field.name
                for field in msgspec.structs.fields(option)
                if field.name not in _UNIQUE and _is_text(hints[field.name]) and _is_absent(field)
            )
    return ()


def _is_absent(field: msgspec.structs.FieldInfo) -> bool:
    # An encoder leaves out what is the default itself, not what merely equals it: a value that
    # became one with a default would no longer be sent.
    return field.default in (msgspec.NODEFAULT, None, "")


def _is_text(hint: Any) -> bool:
    options = _options(without_constraints(hint))
    return str in options and set(options) <= {str, type(None)}


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
