"""A custom kind with everything a schema can make of a list, defaults, and rules in CEL."""

from __future__ import annotations

from typing import Any

from fuzz.subjects import CONFIG_MAP, DEPLOYMENT, POD, SERVICE, Subject

JsonObject = dict[str, Any]

GROUP = "fuzz.example.com"
_TEXT: JsonObject = {"type": "string"}
_WHOLE: JsonObject = {"type": "integer"}


def _map(**properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties}


def _list(items: JsonObject, sort: str = "atomic", *keys: str) -> JsonObject:
    listed: JsonObject = {"type": "array", "items": items, "x-kubernetes-list-type": sort}
    return {**listed, "maxItems": 10, **({"x-kubernetes-list-map-keys": [*keys]} if keys else {})}


_PORT = {
    **_map(port=_WHOLE, protocol={**_TEXT, "default": "TCP"}, name=_TEXT, tags=_list(_TEXT, "set")),
    "required": ["port"],
}
_CONDITION = {**_map(type=_TEXT, status=_TEXT, reason=_TEXT), "required": ["type", "status"]}
_SPEC = {
    **_map(
        size={**_WHOLE, "default": 1, "minimum": 0, "maximum": 100},
        replicas={**_WHOLE, "format": "int32"},
        mode={**_TEXT, "maxLength": 10, "enum": ["slow", "fast"], "default": "slow"},
        name={**_TEXT, "maxLength": 5, "pattern": "^[a-z]*$"},
        frozen=_TEXT | {"maxLength": 10, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
        opts=_map(a={**_TEXT, "default": "x"}, b=_WHOLE) | {"default": {}},
        whole=_map(a=_TEXT, b=_TEXT) | {"x-kubernetes-map-type": "atomic"},
        either={"x-kubernetes-int-or-string": True},
        maybe={**_TEXT, "nullable": True},
        texts={"type": "object", "additionalProperties": _TEXT},
        free={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        tags=_list({**_TEXT, "maxLength": 10}, "set"),
        steps=_list(_WHOLE),
        ports=_list(_PORT, "map", "port", "protocol"),
        low=_WHOLE,
        high=_WHOLE,
    ),
    "x-kubernetes-validations": [
        {"rule": "!has(self.low) || !has(self.high) || self.low <= self.high", "message": "order"},
        {
            "rule": "self.size <= 10 || self.mode == 'fast'",
            "messageExpression": "'too large for ' + self.mode",
            "fieldPath": ".size",
        },
        {"rule": "!has(self.tags) || self.tags.all(t, t != 'no')"},
        {"rule": "!has(oldSelf.replicas) || has(self.replicas)", "reason": "FieldValueForbidden"},
    ],
}
_STATUS = _map(
    phase=_TEXT,
    replicas=_WHOLE,
    selector=_TEXT,
    conditions=_list(_CONDITION, "map", "type"),
)
DEFINITION: JsonObject = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"widgets.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": _map(spec=_SPEC, status=_STATUS)},
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                        "labelSelectorPath": ".status.selector",
                    },
                },
            }
        ],
    },
}

_P, _Q, _U = {"port": 1}, {"port": 2, "name": "q"}, {"port": 1, "protocol": "UDP"}
WIDGET = Subject(
    "Widget",
    "widgets",
    f"{GROUP}/v1",
    good={
        "spec": ({}, {"size": 2}),
        "spec/size": (0, 1, 2, 11),
        "spec/replicas": (0, 1, 2),
        "spec/mode": ("slow", "fast"),
        "spec/name": ("", "abc"),
        "spec/frozen": ("one", "two"),
        "spec/opts": ({}, {"a": "y"}, {"b": 1}),
        "spec/opts/a": ("x", "z"),
        "spec/opts/b": (1, 2),
        "spec/whole": ({"a": "1"}, {"a": "1", "b": "2"}, {}),
        "spec/whole/a": ("1", "2"),
        "spec/either": (1, "50%"),
        "spec/maybe": (None, "one"),
        "spec/texts": ({"k": "v"}, {"k": "w", "l": "v"}, {}),
        "spec/texts/k": ("v", "w"),
        "spec/free": ({"a": 1}, {"a": {"b": [1]}}, {}),
        "spec/free/a": (1, {"c": 2}, [1, 2]),
        "spec/tags": (["a"], ["a", "b"], ["b", "a"], ["c"], []),
        "spec/steps": ([1], [1, 2, 1], []),
        "spec/ports": ([_P], [_P, _Q], [_Q, _P], [_U, _P], [{**_P, "name": "p"}], []),
        "spec/low": (1, 5),
        "spec/high": (3, 7),
    },
    bad={
        "spec": (None, "text", []),
        "spec/size": (-1, 101, "text", 1.5, None),
        "spec/replicas": (-1, 2**40),
        "spec/mode": ("other", None, 1),
        "spec/name": ("ABC", "abcdefg"),
        "spec/opts": (None, {"a": 1}, {"unknown": 1}),
        "spec/either": (True, {"a": 1}),
        "spec/texts": ({"k": 1}, {"k": None}),
        "spec/tags": (["a", "a"], ["no"], [1], ["far too long a tag"], None),
        "spec/ports": ([_P, _P], [{"name": "x"}], [{**_P, "protocol": "TCP"}, _P], [1]),
        "spec/unknown": (1,),
    },
    points={
        "spec/tags/-": ("d", "a"),
        "spec/tags/0": ("e",),
        "spec/ports/0/name": ("x", "y"),
        "spec/ports/-": ({"port": 3}, _P),
        "spec/steps/-1": (7,),
    },
    directives={"spec/ports": ([{"port": 1, "$patch": "delete"}],)},
    status={
        "status/phase": ("one", "two"),
        "status/replicas": (0, 2),
        "status/selector": ("app=a",),
        "status/conditions": (
            [{"type": "Ready", "status": "True"}],
            [{"type": "Ready", "status": "False"}, {"type": "Other", "status": "True"}],
            [],
        ),
    },
    bad_status={
        "status/phase": (1,),
        "status/conditions": ([{"type": "Ready"}], [{"type": "R", "status": "1"}] * 2),
        "status/unknown": (1,),
    },
    scaled=True,
    custom=True,
)

SUBJECTS = {each.kind: each for each in (CONFIG_MAP, DEPLOYMENT, SERVICE, POD, WIDGET)}
