"""The difference of two objects as a JSON merge patch, and what such a patch must not do.

A merge patch replaces lists whole. A built-in kind is a projection, and so is a narrower view of
a custom one: items of its lists may hold fields we never read, so a patch that touches such a list
is refused rather than losing them.
"""

from __future__ import annotations

from typing import Any

from quintant.core import codec
from quintant.core.errors import ConfigError
from quintant.core.object import M, Model, Object, replace
from quintant.core.resource import is_custom_kind


def make_merge_patch(new: Object, since: Object) -> dict[str, Any]:
    """The merge patch that turns `since` into `new`; empty when they are equal."""
    before, after = _without_shared(since, new)
    patch = merge_patch_between(codec.to_plain(before), codec.to_plain(after))
    if not is_custom_kind(type(new)):
        _refuse_lists(patch, type(new).__name__)
    return patch


def _without_shared(old: M, new: M) -> tuple[M, M]:
    """Both without what is one and the same in them: it is no difference, and may be long."""
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    fields: tuple[str, ...] = getattr(type(new), "__struct_fields__", ())
    for name in fields:
        one, other = getattr(old, name), getattr(new, name)
        if one is other:
            before[name] = after[name] = None
        elif isinstance(one, Model) and type(one) is type(other):
            before[name], after[name] = _without_shared(one, other)
    return replace(old, **before), replace(new, **after)


def merge_patch_between(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The merge patch that turns plain data into other plain data."""
    patch: dict[str, Any] = {name: None for name in old if name not in new}
    for name, value in new.items():
        before = old.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            inner = merge_patch_between(before, value)
            if inner:
                patch[name] = inner
        elif name not in old or not _same(before, value):
            patch[name] = value
    return patch


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    # To Python 1, 1.0 and True are equal; to JSON they are not.
    return type(one) is type(other) and bool(one == other)


def _refuse_lists(patch: dict[str, Any], kind: str, path: str = "") -> None:
    for name, value in patch.items():
        field_path = f"{path}.{name}" if path else name
        # Owner references are modelled whole.
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            if field_path != "metadata.ownerReferences":
                raise ConfigError(
                    f"cannot patch {kind}: the list {field_path} changed",
                    because="a patch replaces the whole list, with every field not modelled here",
                    hint="use apply(), which merges list items by key",
                )
        elif isinstance(value, dict):
            _refuse_lists(value, kind, field_path)
