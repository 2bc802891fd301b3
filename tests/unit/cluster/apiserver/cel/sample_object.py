"""An object and its schema that the tests of expressions are about."""

from __future__ import annotations

from typing import Any

from quintant.cluster.apiserver.cel import CompiledRule, EvalResult, compile_rule
from quintant.cluster.apiserver.cel.schemas import convert, declare
from quintant.cluster.apiserver.cel.types import CelType

INTEGER = {"type": "integer"}
TEXT = {"type": "string", "maxLength": 50}
LIMIT = 1_000_000
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "i": INTEGER,
        "d": {"type": "number"},
        "s": TEXT,
        "b": {"type": "boolean"},
        "t": {"type": "string", "format": "date-time"},
        "u": {"type": "string", "format": "duration"},
        "y": {"type": "string", "format": "byte"},
        "day": {"type": "string", "format": "date"},
        "l": {"type": "array", "maxItems": 10, "items": INTEGER},
        "lo": {
            "type": "array",
            "maxItems": 5,
            "items": {"type": "object", "properties": {"n": TEXT}},
        },
        "m": {"type": "object", "maxProperties": 10, "additionalProperties": INTEGER},
        "o": {
            "type": "object",
            "properties": {
                "x": INTEGER,
                "x-y": INTEGER,
                "a.b": INTEGER,
                "a/b": INTEGER,
                "__x": INTEGER,
                "namespace": TEXT,
                "a$": INTEGER,
            },
        },
        "either": {"x-kubernetes-int-or-string": True, "maxLength": 10},
        "open": {"x-kubernetes-preserve-unknown-fields": True},
        "n": TEXT,
    },
}
OBJECT: dict[str, Any] = {
    "i": 7,
    "d": 2.5,
    "s": "hello world",
    "b": True,
    "t": "2024-03-05T10:20:30.5Z",
    "u": "1h30m",
    "y": "YWJj",
    "day": "2024-02-29",
    "l": [3, 1, 2],
    "lo": [{"n": "a"}, {"n": "b"}, {}],
    "m": {"a": 1, "b": 2},
    "o": {"x": 1, "x-y": 2, "a.b": 3, "a/b": 4, "__x": 5, "namespace": "ns", "a$": 6},
    "either": "50%",
    "open": {"q": 1},
}
_DECLARED = declare(SCHEMA, name="selfType")
assert _DECLARED is not None
SELF: CelType = _DECLARED


def program(expression: str) -> CompiledRule:
    return compile_rule(expression, {"self": SELF, "oldSelf": SELF})


def run(expression: str, limit: int = LIMIT) -> EvalResult:
    return program(expression).run({"self": convert(OBJECT, SELF)}, limit)


def value(expression: str) -> Any:
    return run(expression).value
