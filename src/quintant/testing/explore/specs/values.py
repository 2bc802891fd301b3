"""Values of a property: what users write, boundaries, and what should be refused.

Which of them are right is the server's to say: a schema says less than its rules and webhooks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.json import encode

from quintant.testing.explore.specs.schema import Property, Schema, minimal

LABEL, NAME = 63, 253
"""The most characters of a label's value, and of a name."""
MOST_TEXT = 2048
"""Characters of the longest text that is tried, unless it is told to be shorter."""
MOST_ITEMS = 128
"""Items of the longest list that is tried."""
MOST_INT = 2**31 - 1
QUANTITIES = ("1", "2", "500m", "1Gi", "10Gi", "2Gi", "0", "-1", "1e3", "x")
DURATIONS = ("30s", "5m", "1h30m", "1s", "0", "-1s", "1", "x")
TEXTS = (
    "a",
    "b-2",
    "",
    "a:80",
    "https://a.example/b",
    "wss://a.example/b",
    "10s",
    "1Gi",
    "7",
    "@every 1h",
    "/a/b",
    "UPPER",
    "a.b",
    "-a",
    " ",
    "a b",
    'a"b',
    "a\nb",
    "{{a}}",
    "$(a)",
    "ü",
)
"""Texts of all sorts: names, addresses, times, amounts, and what templates and shells read."""

CORE_VALUES: dict[str, tuple[Any, ...]] = {
    "affinity": (
        {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
                    ]
                }
            }
        },
        {
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 10, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname"}}
                ]
            }
        },
        {},
    ),
    "containers": ([{"name": "side", "image": "side:v1"}], [{"name": "side", "image": "side:v2"}]),
    "env": ([{"name": "A", "value": "1"}], [{"name": "A", "value": "2"}, {"name": "B"}], []),
    "imagePullSecrets": ([{"name": "pull"}], [{"name": "pull"}, {"name": "other"}], []),
    "initContainers": ([{"name": "init", "image": "init:v1"}], []),
    "resources": (
        {"requests": {"cpu": "100m"}},
        {"requests": {"cpu": "200m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
        {"requests": {"cpu": "50m"}, "limits": {"cpu": 1}},
        {},
        {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
        {"requests": {"cpu": "x"}},
    ),
    "securityContext": ({"runAsUser": 1000}, {"runAsUser": 2000, "runAsNonRoot": True}, {}),
    "selector": ({"matchLabels": {"a": "b"}}, {}),
    "tolerations": (
        [{"key": "a", "operator": "Exists"}],
        [{"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"}],
        [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
        [],
        [{"key": "a", "operator": "x"}],
    ),
    "topologySpreadConstraints": (
        [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
        [],
    ),
    "volumeMounts": ([{"name": "scratch", "mountPath": "/scratch"}], []),
    "volumes": (
        [{"name": "scratch", "emptyDir": {}}],
        [{"name": "scratch", "emptyDir": {"sizeLimit": "1Gi"}}],
        [],
    ),
}
"""What matters in fields of core types."""
_PROBE = {"httpGet": {"path": "/", "port": 80}}
for _name in ("livenessProbe", "readinessProbe", "startupProbe"):
    CORE_VALUES[_name] = (_PROBE, {**_PROBE, "periodSeconds": 3}, {})
for _name in ("podSecurityContext", "containerSecurityContext"):
    CORE_VALUES[_name] = CORE_VALUES["securityContext"]
CORE_VALUES["ephemeralContainers"] = CORE_VALUES["containers"]


def values_of(changed: Property, now: Any) -> Sequence[Any]:
    """Values of a property that has one now (or None), each once, the likeliest first."""
    made = CORE_VALUES.get(changed.field) if changed.is_core else None
    known: dict[bytes, Any] = {}
    for value in made if made is not None else _values(changed.schema, now):
        if value is not None and value != now:
            known.setdefault(encode(value), value)
    return list(known.values())


def _values(schema: Schema, now: Any) -> Iterator[Any]:
    if schema.get("enum"):
        yield from schema["enum"]
        yield "x"
        return
    if schema.get("x-kubernetes-int-or-string"):
        yield from QUANTITIES if "pattern" in schema else (1, 2, "50%", "a", 0, 65535, 65536, -1)
        return
    match schema.get("type"):
        case "boolean":
            yield from (True, False)
        case "integer" | "number":
            yield from _numbers(schema, now)
        case "string":
            yield from _texts(schema, now)
        case "array":
            yield from _lists(schema, now)
        case "object":
            yield from _objects(schema, now)
        case _:
            yield from ({"a": 1}, {"a": 2}, {})


def _numbers(schema: Schema, now: Any) -> Iterator[int]:
    least, most = schema.get("minimum"), schema.get("maximum")
    if isinstance(now, int):
        yield from (now + 1, now + 2, now - 1)
    yield from (1, 2, 3, 0, -1)
    for bound in (each for each in (least, most) if each is not None):
        yield from (bound, bound + 1, bound - 1)
    if most is None:
        yield MOST_INT


def _texts(schema: Schema, now: Any) -> Iterator[str]:
    if schema.get("format") == "duration":
        yield from DURATIONS
        return
    if schema.get("format") == "date-time":
        yield from ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "x")
        return
    if isinstance(now, str) and now:
        yield from (f"{now}x", f"x{now}", now.swapcase())
    yield from TEXTS
    for length in {LABEL, NAME, schema.get("maxLength", NAME)}:
        if length <= MOST_TEXT:
            yield from (_long(now, length), _long(now, length + 1))


def _long(now: Any, length: int) -> str:
    """A text of so many characters that begins as the one that is there."""
    start = now if isinstance(now, str) else ""
    return start[:length] + "a" * (length - len(start))


def _lists(schema: Schema, now: Any) -> Iterator[list[Any]]:
    items = schema.get("items", {})
    have = now if isinstance(now, list) else []
    made = _items(items, have)
    yield from (have + made[:1], have + made, made[:1], made, made[::-1])
    yield from (have[::-1], have[:-1], [], have + have[:1] or made[:1] * 2)
    most = schema.get("maxItems")
    if most is not None and most <= MOST_ITEMS:
        for count in (most, most + 1):
            yield (have + [_renamed(made[0], number) for number in range(count)])[:count]


def _items(schema: Schema, have: list[Any]) -> list[Any]:
    """Two further items of a list."""
    first = have[0] if have else minimal(schema)
    return [_renamed(first, number) for number in range(2)]


def _renamed(item: Any, number: int) -> Any:
    """Another item like one: its name, or else the first of its texts and numbers, differs."""
    match item:
        case str():
            return f"{item}-{number}"
        case bool():
            return bool(number % 2)
        case int():
            return item + number + 1
        case {"name": str(name), **rest}:
            return {"name": f"{name}-{number}", **rest}
        case dict() if item:
            first = next((k for k, v in item.items() if isinstance(v, str | int)), None)
            return item if first is None else {**item, first: _renamed(item[first], number)}
    return item


def _objects(schema: Schema, now: Any) -> Iterator[dict[str, Any]]:
    inner = schema.get("additionalProperties")
    if isinstance(inner, dict):
        have = now if isinstance(now, dict) else {}
        one, other = _pair(inner)
        yield from (
            {**have, "a": one},
            {**have, "a": one, "b.example/c": other},
            {**have, "a": other},
        )
        yield from ({}, {"a": one}, {"A b": one})
        return
    least = minimal(schema)
    if isinstance(least, dict):
        yield least
    if not schema.get("properties"):
        yield from ({"a": "1"}, {"a": "2"})


def _pair(schema: Schema) -> tuple[Any, Any]:
    """Two values of a schema."""
    if schema.get("x-kubernetes-int-or-string"):
        return "1", "2"
    first = minimal(schema)
    found = (each for each in _values(schema, first) if each != first)
    return first, next(found, first)
