"""What a changed CosmosFullNode would make, change and restart, and because of which field. Pure.

The children of both are built alike, and compared. A field is to blame for a change if the child
changes when that field alone does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import msgspec

from quintant.api.service import Service
from quintant.core import codec
from quintant.core.codec import to_plain
from quintant.core.errors import Undecodable
from quintant.core.object import Object
from quintant.core.resource import resource_of
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.builders.additional_pod_builder import build_additional_pods
from quintant.operators.cosmos.builders.config_map_builder import build_config_maps
from quintant.operators.cosmos.builders.init_container_builder import Tools
from quintant.operators.cosmos.builders.instances import MARK, instances
from quintant.operators.cosmos.builders.node_key_builder import NodeKey, build_node_key
from quintant.operators.cosmos.builders.peer_builder import build_peers
from quintant.operators.cosmos.builders.pod_builder import PodInputs, build_pod
from quintant.operators.cosmos.builders.pvc_builder import build_claim
from quintant.operators.cosmos.builders.rbac_builder import build_account
from quintant.operators.cosmos.builders.service_builder import build_services
from quintant.runtime.apply import revision

Plain = dict[str, Any]
Path = tuple[str, ...]
# What stays when nothing asks for it any more.
_KEPT = ("Service", "ConfigMap", "ServiceAccount", "Role", "RoleBinding")


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """One thing that would happen."""

    action: str
    """create, change, restart, delete or keep."""
    kind: str
    name: str
    because: tuple[str, ...] = ()
    """The fields that are to blame."""


@dataclass(frozen=True, slots=True)
class PreviewInputs:
    """What children depend on beside the spec."""

    tools: Tools
    keys: Mapping[str, NodeKey] = field(default_factory=dict)
    services: tuple[Service, ...] = ()


Children = dict[tuple[str, str], str]
"""The revision of each child, by kind and name."""


def preview(
    before: CosmosFullNode | None, after: CosmosFullNode, given: PreviewInputs
) -> list[PreviewLine]:
    """What would happen, by kind and name."""
    new = child_revisions(after, given)
    if before is None:
        return [PreviewLine("create", *key) for key in new]
    old = child_revisions(before, given)
    blame = _blame(before, after, given, old)
    lines = [_line(key, old.get(key), new.get(key), blame) for key in {**old, **new}]
    return [line for line in lines if line is not None]


def changed_fields(before: Any, after: Any, path: Path = ()) -> Iterator[Path]:
    """The fields in which two specs differ, as deep as both are maps."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from changed_fields(before.get(key), after.get(key), (*path, key))
    elif before != after:
        yield path


def _line(
    key: tuple[str, str], had: str | None, wants: str | None, blame: Mapping[tuple[str, str], Any]
) -> PreviewLine | None:
    if had == wants:
        return None
    because = tuple(blame.get(key, ()))
    if had is None:
        return PreviewLine("create", *key, because)
    if wants is None:
        return PreviewLine("keep" if key[0] in _KEPT else "delete", *key, because)
    return PreviewLine("restart" if key[0] == "Pod" else "change", *key, because)


def _blame(
    before: CosmosFullNode, after: CosmosFullNode, given: PreviewInputs, old: Children
) -> dict[tuple[str, str], list[str]]:
    """The fields that change each child when they change alone."""
    was, will = to_plain(before), to_plain(after)
    found: dict[tuple[str, str], list[str]] = {}
    for path in changed_fields(was["spec"], will["spec"], ("spec",)):
        alone = _with(was, will, path)
        if alone is None:
            continue
        changed = child_revisions(alone, given)
        for key in {**old, **changed}:
            if old.get(key) != changed.get(key):
                found.setdefault(key, []).append(".".join(path))
    return found


def _with(was: Plain, will: Plain, path: Path) -> CosmosFullNode | None:
    """The one before, with one field of the other; None if that makes no sense."""
    made = deepcopy(was)
    here, there = made, will
    for step in path[:-1]:
        here, there = here.setdefault(step, {}), there.get(step) or {}
    here.pop(path[-1], None)
    if path[-1] in there:
        here[path[-1]] = there[path[-1]]
    try:
        return codec.decode(CosmosFullNode, msgspec.json.encode(made))
    except Undecodable:
        return None  # a field alone may be no whole object; then it is not blamed


def child_revisions(full_node: CosmosFullNode, given: PreviewInputs) -> Children:
    """What every child of a CosmosFullNode is marked with, if there is nothing in its way."""
    found: Children = {}
    for child in _built(full_node, given):
        found[resource_of(type(child)).kind, child.metadata.name] = revision(child, MARK)
    return found


def _built(full_node: CosmosFullNode, given: PreviewInputs) -> Iterator[Object]:
    heights = full_node.status.height if full_node.status is not None else {}
    nodes = instances(full_node)
    keys = {
        each.name: given.keys.get(each.name) or build_node_key(each.ordinal.to_bytes(32, "big"))
        for each in nodes
    }
    yield from build_services(full_node)
    configs = build_config_maps(
        full_node, keys, build_peers(full_node, keys, given.services), heights
    )
    yield from (each.config_map for each in configs.values())
    account = build_account(full_node)
    if account is not None:
        yield from (account.account, account.role, account.binding)
    for each in nodes:
        height = heights.get(each.name, 0)
        pod = build_pod(
            full_node, each, PodInputs(configs[each.name].checksum, height), given.tools
        )
        yield from (pod,) if pod is not None else ()
        yield from build_additional_pods(full_node, each, height)
        claim = build_claim(full_node, each, None)
        yield from (claim,) if claim is not None else ()
