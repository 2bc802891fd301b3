"""What a rule may cost at worst: accepted and refused by the same estimate on every server."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.target import Target, definition
from unit.cluster.api import CRDS, JsonObject

TEXT: JsonObject = {"type": "string"}
SHORT: JsonObject = {"type": "string", "maxLength": 63}
EITHER: JsonObject = {"x-kubernetes-int-or-string": True}
MOST = "more than 100x"


def _object(rule: str = "", **fields: JsonObject) -> JsonObject:
    return _ruled({"type": "object", "properties": fields}, rule)


def _list(items: JsonObject, rule: str = "", **more: Any) -> JsonObject:
    return _ruled({"type": "array", "items": items, **more}, rule)


def _map(rule: str = "", values: JsonObject = TEXT, **more: Any) -> JsonObject:
    return _ruled({"type": "object", "additionalProperties": values, **more}, rule)


def _text(rule: str) -> JsonObject:
    return _ruled(TEXT, rule)


def _ruled(schema: JsonObject, rule: str) -> JsonObject:
    return {**schema, "x-kubernetes-validations": [{"rule": rule}]} if rule else schema


FIVE = dict.fromkeys("abcde", TEXT)
ONE_OF_FIVE = "+".join(f"(has(self.{name})?1:0)" for name in FIVE) + "<=1"
CASES: dict[str, tuple[JsonObject, str]] = {
    "has, chained": (
        _list(
            _list(
                _object(
                    "!has(self.o) || !has(self.o.p) || has(self.o.p.q)",
                    o=_object(p=_object(q=TEXT)),
                )
            )
        ),
        "",
    ),
    "has, counted": (_list(_object(ONE_OF_FIVE, **FIVE)), "1.048576x"),
    "has, listed": (
        _list(
            _object(
                "[has(self.a),has(self.b),has(self.c)].exists_one(x,x)",
                **dict.fromkeys("abc", _object(x=TEXT)),
            )
        ),
        "2.5x",
    ),
    "has, then a value": (
        _list(_list(_object("(has(self.a) ? self.a : self.b) == 'x'", **FIVE))),
        "",
    ),
    "optional fields": (
        _list(_list(_object("self.?a.orValue('') == '' || self.?b.hasValue()", **FIVE))),
        "",
    ),
    "keys match": (_map("self.all(k, k.matches('^[a-z]{1,63}(/[a-z]{1,63})?$'))"), ""),
    "keys of maps in a list": (
        _list(
            _map(
                "self.all(k, k != '' && k.startsWith('a') && k.size() < 64)",
                maxProperties=100,
            )
        ),
        "94.6x",
    ),
    "key in a map": (_list(_list(_map("'a' in self"))), ""),
    "item in a list": (_list(_list(TEXT, "'a' in self")), MOST),
    "beginning of a text": (_list(_text("self.startsWith('https://')")), ""),
    "beginning that is long": (
        _list(_list(_object("self.a.startsWith(self.b)", a=TEXT, b=TEXT))),
        MOST,
    ),
    "two lists together": (
        _list(
            _list(_object("(self.a + self.b).size() < 3", a=_list(TEXT), b=_list(TEXT))),
        ),
        "",
    ),
    "two texts together": (_list(_object("self.a + self.b == 'x'", a=TEXT, b=TEXT)), MOST),
    "number or text": (_list(_list(_object("self.p == 3 || self.p == '3'", p=EITHER))), ""),
    "texts replaced": (_list(_text("self.replace('a','b') == ''")), MOST),
    "texts sorted": (_list(TEXT, "self.isSorted()"), MOST),
    "each one once": (
        _list(_object(a=SHORT), "self.all(x, self.exists_one(y, x.a == y.a))", maxItems=256),
        "",
    ),
    "each one once, without limits": (
        _list(_object(a=TEXT), "self.all(x, self.exists_one(y, x.a == y.a))"),
        MOST,
    ),
}


@pytest.mark.parametrize("case", CASES)
async def test_a_rule_is_as_costly_as_its_schema_allows(target: Target, case: str) -> None:
    schema, factor = CASES[case]
    whole = {"type": "object", "properties": {"spec": _object(x=schema)}}
    made = definition(f"{target.namespace}.example.com", whole)
    reply = await target.send("POST", CRDS, made, dryRun="All")
    told = reply.body.decode()
    assert reply.status == (422 if factor else 201), told
    assert f"estimated rule cost exceeds budget by factor of {factor}" in told or not factor
