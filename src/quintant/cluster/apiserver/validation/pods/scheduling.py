"""validateAffinity, validateTopologySpreadConstraints: affinities, spreads, tolerations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quintant.cluster.apiserver.meta.field_errors import duplicate, invalid, invalid_each, required
from quintant.cluster.apiserver.meta.names import label_value_errors, qualified_name_errors
from quintant.cluster.apiserver.validation.common import validate_enum
from quintant.cluster.apiserver.validation.label_selectors import selector_causes
from quintant.core.errors import Cause

Plain = Mapping[str, Any]

WEIGHTS = range(1, 101)
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
"""What a taint does to pods that do not tolerate it."""
_UNSATISFIED = ("DoNotSchedule", "ScheduleAnyway")
_NEEDED = "requiredDuringSchedulingIgnoredDuringExecution"
_LIKED = "preferredDuringSchedulingIgnoredDuringExecution"
_SETS, _PRESENCE, _ORDERS = ("In", "NotIn"), ("Exists", "DoesNotExist"), ("Gt", "Lt")
_KEYLESS = (
    'operator must be Exists when `key` is empty, which means "match all values and all keys"'
)


def toleration_causes(path: str, tolerations: list[Plain]) -> Iterator[Cause]:
    """What is wrong with tolerations."""
    for at, each in enumerate(tolerations):
        yield from _toleration_causes(f"{path}[{at}]", each)


def _toleration_causes(path: str, toleration: Plain) -> Iterator[Cause]:
    operator, value = toleration.get("operator") or "", toleration.get("value") or ""
    key, effect = toleration.get("key") or "", toleration.get("effect") or ""
    yield from invalid_each(f"{path}.key", key, qualified_name_errors(key) if key else [])
    if not key and operator != "Exists":
        yield invalid(f"{path}.operator", operator, _KEYLESS)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield invalid(f"{path}.effect", effect, text)
    if operator in ("", "Equal"):
        if complaints := label_value_errors(value):
            yield invalid(f"{path}.operator", value, ";".join(complaints))
    elif operator == "Exists" and value:
        text = "value must be empty when `operator` is 'Exists'"
        yield invalid(f"{path}.operator", value, text)
    elif operator not in ("Exists", *_ORDERS):
        yield from validate_enum(f"{path}.operator", operator, ("Equal", "Exists"))
    if effect:
        yield from validate_enum(f"{path}.effect", effect, EFFECTS)


def affinity_causes(path: str, affinity: Plain) -> Iterator[Cause]:
    """What is wrong with affinities to nodes and pods."""
    nodes = affinity.get("nodeAffinity") or {}
    if nodes.get(_NEEDED) is not None:
        yield from node_causes(f"{path}.nodeAffinity.{_NEEDED}", nodes[_NEEDED])
    for at, each in enumerate(nodes.get(_LIKED) or ()):
        item_path = f"{path}.nodeAffinity.{_LIKED}[{at}]"
        yield from _weight_causes(item_path, each)
        yield from _term_causes(f"{item_path}.preference", each.get("preference") or {})
    for name in ("podAffinity", "podAntiAffinity"):
        pods, item_path = affinity.get(name) or {}, f"{path}.{name}"
        for at, term in enumerate(pods.get(_NEEDED) or ()):
            yield from _pod_causes(f"{item_path}.{_NEEDED}[{at}]", term)
        for at, each in enumerate(pods.get(_LIKED) or ()):
            yield from _weight_causes(f"{item_path}.{_LIKED}[{at}]", each)
            term = each.get("podAffinityTerm") or {}
            yield from _pod_causes(f"{item_path}.{_LIKED}[{at}].podAffinityTerm", term)


def node_causes(path: str, selector: Plain) -> Iterator[Cause]:
    """What is wrong with a selector of nodes."""
    terms = selector.get("nodeSelectorTerms") or []
    if not terms:
        text = "must have at least one node selector term"
        yield required(f"{path}.nodeSelectorTerms", text)
    for at, term in enumerate(terms):
        yield from _term_causes(f"{path}.nodeSelectorTerms[{at}]", term)


def _weight_causes(path: str, each: Plain) -> Iterator[Cause]:
    weight = each.get("weight", 0)
    if weight not in WEIGHTS:
        yield invalid(f"{path}.weight", weight, "must be in the range 1-100")


def _term_causes(path: str, term: Plain) -> Iterator[Cause]:
    for at, each in enumerate(term.get("matchExpressions") or ()):
        item_path, key = f"{path}.matchExpressions[{at}]", each.get("key") or ""
        operator, values = each.get("operator") or "", each.get("values") or []
        if operator in _SETS and not values:
            text = "must be specified when `operator` is 'In' or 'NotIn'"
            yield required(f"{item_path}.values", text)
        elif operator in _ORDERS and len(values) != 1:
            text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            yield required(f"{item_path}.values", text)
        elif operator not in (*_SETS, *_PRESENCE, *_ORDERS):
            yield invalid(f"{item_path}.operator", operator, "not a valid selector operator")
        yield from invalid_each(f"{item_path}.key", key, qualified_name_errors(key))


def _pod_causes(path: str, term: Plain) -> Iterator[Cause]:
    for name in ("labelSelector", "namespaceSelector"):
        if term.get(name) is not None:
            yield from selector_causes(f"{path}.{name}", term[name])
    key = term.get("topologyKey") or ""
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from invalid_each(f"{path}.topologyKey", key, qualified_name_errors(key))


def gate_causes(path: str, gates: list[Plain]) -> Iterator[Cause]:
    """What is wrong with what holds a pod back."""
    names: set[str] = set()
    for at, gate in enumerate(gates):
        name = gate.get("name") or ""
        yield from invalid_each(f"{path}[{at}]", name, qualified_name_errors(name))
        if name in names:
            yield duplicate(f"{path}[{at}]", name)
        names.add(name)


def spread_causes(path: str, constraints: list[Plain]) -> Iterator[Cause]:
    """What is wrong with how evenly pods are spread."""
    for at, each in enumerate(constraints):
        item_path, key = f"{path}[{at}]", each.get("topologyKey") or ""
        skew, otherwise = each.get("maxSkew", 0), each.get("whenUnsatisfiable") or ""
        if skew <= 0:
            yield invalid(f"{item_path}.maxSkew", skew, "must be greater than zero")
        if not key:
            yield required(f"{item_path}.topologyKey", "can not be empty")
        yield from invalid_each(
            f"{item_path}.topologyKey", key, qualified_name_errors(key) if key else []
        )
        yield from validate_enum(f"{item_path}.whenUnsatisfiable", otherwise, _UNSATISFIED)
        if (key, otherwise) in map(_pair, constraints[at + 1 :]):
            field = f"{item_path}.{{topologyKey, whenUnsatisfiable}}"
            yield duplicate(field, f"{{{key}, {otherwise}}}")
        yield from _domain_causes(item_path, each.get("minDomains"), otherwise)
        if each.get("labelSelector") is not None:
            yield from selector_causes(f"{item_path}.labelSelector", each["labelSelector"])


def _pair(each: Plain) -> tuple[str, str]:
    """What no two constraints may have in common."""
    return each.get("topologyKey") or "", each.get("whenUnsatisfiable") or ""


def _domain_causes(path: str, least: int | None, otherwise: str) -> Iterator[Cause]:
    if least is None:
        return
    if least <= 0:
        yield invalid(f"{path}.minDomains", least, "must be greater than zero")
    if otherwise != "DoNotSchedule":
        text = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {otherwise}"
        yield invalid(f"{path}.minDomains", least, text)
