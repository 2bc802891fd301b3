"""Which objects of a kind a member of a sharded manager holds, as a controller's declaration says.

What maps an object to keys decides: the key itself, the owner, a function. Metadata say it for all
but functions, whose objects must be decoded first. A controller that keeps namespaces together
holds all of a namespace, whatever its objects map to; where one member has all keys, it holds all
that maps to any.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from quintant.core.errors import ConfigError
from quintant.core.object import Object, Request
from quintant.core.resource import resource_of
from quintant.runtime.controller.declaration import (
    ByIndex,
    Declaration,
    WatchDeclaration,
    kind_name,
)

if TYPE_CHECKING:  # loaded by managers that are sharded
    from quintant.runtime.cache.partial.keep_rules import KeepRule, OwnKeys, Partition

_ALL = Request("all")
"""Any key at all: of a controller that runs on one member, it stands for all of them."""


def controlled_rule(declared: Declaration[Any], partition: Partition | None) -> KeepRule | None:
    """Which objects of its own kind a controller needs here; None: all of them."""
    if partition is None or declared.shared:
        return None
    return _rule(partition.of(declared.name), _own_key)


def watched_rule(
    declared: Declaration[Any], watch: WatchDeclaration, partition: Partition | None
) -> KeepRule | None:
    """Which objects of a kind that it watches a controller needs here; None: all of them."""
    if partition is None or watch.shared:
        return None
    keys = partition.of(declared.name)
    if keys.by_namespace and _is_namespaced(watch):
        return _rule(keys, _own_namespace)
    if isinstance(watch.to, ByIndex):
        return _rule(keys, _any_key)
    return _rule(keys, watch.to, decodes=not watch.owned)


def check_decidable(
    declared: Declaration[Any], watch: WatchDeclaration, *, by_namespace: bool
) -> None:
    """ConfigError for a watch of which no member can know what it needs."""
    if not isinstance(watch.to, ByIndex) or watch.shared or declared.single:
        return
    if by_namespace and _is_namespaced(watch):
        return
    kind = kind_name(watch.kind)
    raise ConfigError(
        f"controller {declared.name!r} watches {kind} by_index, and its manager is sharded",
        because="a member files the objects of its own keys alone, so it cannot tell which of "
        f"these {kind}s the objects of others refer to",
        hint=f".watches({kind}, ..., shared=True) has every member hold all of them",
    )


def _rule(keys: OwnKeys, to: Any, *, decodes: bool = False) -> KeepRule:
    from quintant.runtime.cache.partial.keep_rules import KeepRule

    return KeepRule(to, keys.holds, decodes, keys.all_keys)


def _is_namespaced(watch: WatchDeclaration) -> bool:
    return resource_of(watch.kind).namespaced


def _own_key(obj: Object) -> Iterable[Request]:
    return (Request(obj.metadata.name, obj.metadata.namespace),)


def _own_namespace(obj: Object) -> Iterable[Request]:
    return (Request("", obj.metadata.namespace),)


def _any_key(obj: Object) -> Iterable[Request]:
    return (_ALL,)
