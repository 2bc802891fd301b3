"""How two templates differ, by path and never by value. Pure.

Dictionaries are compared key by key, lists element by element and in order, since the order of
`concat` and of `requirements` means something. Null is a value. Numbers are equal if they are the
same number; true is no number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec

from quintant.core.json_pointer import escape_step
from quintant.core.object import Opaque

SHOWN = 50
"""Differences that a message names; the rest is counted."""
_UNMERGED = ("node_templates", "outputs", "inputs", "interfaces")
"""Parts of a template that the provider adds to, and never takes from."""


class Difference(NamedTuple):
    """One place at which two templates differ, as a JSON pointer."""

    path: str
    op: Literal["add", "remove", "replace"]

    def __str__(self) -> str:
        return f"{self.op} {self.path}"


def canonical(value: Any) -> Any:
    """The same value, written in the one way in which it is compared."""
    match value:
        case dict():
            return {key: canonical(value[key]) for key in sorted(value)}
        case list():
            return [canonical(each) for each in value]
        case float() if value.is_integer():
            return int(value)
    return value


def digest(template: Any) -> str:
    """What a template is recognised by."""
    return f"sha256:{hashlib.sha256(msgspec.json.encode(canonical(template))).hexdigest()}"


@lru_cache(maxsize=4096)  # asked in every pass, about templates that seldom change
def template_digest(tosca: Opaque) -> str:
    """What the template of a Cluster is recognised by."""
    return digest(tosca.value)


def differences(before: Any, after: Any) -> tuple[Difference, ...]:
    """Everything in which `after` differs from `before`, sorted by path."""
    return tuple(sorted(_walk(canonical(before), canonical(after), "")))


def _walk(before: Any, after: Any, path: str) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            item_path = f"{path}/{escape_step(key)}"
            if key not in after:
                yield Difference(item_path, "remove")
            elif key not in before:
                yield Difference(item_path, "add")
            else:
                yield from _walk(before[key], after[key], item_path)
    elif isinstance(before, list) and isinstance(after, list):
        shared = min(len(before), len(after))
        for at in range(shared):
            yield from _walk(before[at], after[at], f"{path}/{at}")
        for at in range(shared, max(len(before), len(after))):
            yield Difference(f"{path}/{at}", "remove" if len(before) > len(after) else "add")
    elif type(before) is not type(after) or before != after:
        yield Difference(path or "/", "replace")


def irremovable(changes: Iterable[Difference]) -> tuple[str, ...]:
    """The paths that were taken out of a template and stay at the provider, which only merges."""
    return tuple(
        each.path
        for each in changes
        if each.op == "remove" and any(f"/{part}/" in each.path for part in _UNMERGED)
    )


def listed(items: Iterable[object]) -> str:
    """Differences or paths as one line of a message."""
    texts = [str(each) for each in items]
    more = len(texts) - SHOWN
    return ", ".join(texts[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def wanted_machines(template: Mapping[str, Any]) -> int | None:
    """How many machines a template asks for; None where its types do not say."""
    counts = machine_counts(template)
    if counts is None or None in counts.values():
        return None
    return sum(each or 0 for each in counts.values())


def machine_counts(template: Mapping[str, Any]) -> dict[str, int | None] | None:
    """How many machines each node template asks for; None if there is a node of unknown make."""
    topology = _mapping(template.get("topology_template"))
    types, inputs = _mapping(template.get("node_types")), _mapping(topology.get("inputs"))
    counts: dict[str, int | None] = {}
    for name, node in _mapping(topology.get("node_templates")).items():
        kind = _machine(str(_mapping(node).get("type", "")), types)
        if kind is None:
            return None
        if kind:
            counts[name] = _count(_mapping(node), inputs)
    return counts


def _machine(kind: str, types: Mapping[str, Any]) -> bool | None:
    """Whether a type is that of machines; None if it is defined elsewhere."""
    for _ in range(len(types) + 1):
        if kind.endswith(("nodes.Compute", ".indigo.Compute")):
            return True
        if kind not in types:
            return False if kind.startswith("tosca.nodes.") and "indigo" not in kind else None
        kind = str(_mapping(types[kind]).get("derived_from", ""))
    return None


def _count(node: Mapping[str, Any], inputs: Mapping[str, Any]) -> int | None:
    scalable = _mapping(_mapping(node.get("capabilities")).get("scalable"))
    count = _mapping(scalable.get("properties")).get("count", 1)
    if isinstance(count, dict) and list(count) == ["get_input"]:
        count = _mapping(inputs.get(str(count["get_input"]))).get("default")
    return count if isinstance(count, int) and not isinstance(count, bool) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
