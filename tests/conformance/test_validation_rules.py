"""Rules of custom resources: when they compile, what they say, what they may cost."""

from __future__ import annotations

from typing import Any

from conformance.crds import (
    Causes,
    causes,
    fields,
    merged,
    posted,
    redefined,
    ruled,
    spec,
    text,
    tried,
    warnings,
)
from conformance.schema_tables import FORBIDDEN, INVALID, REQUIRED
from conformance.target import Target, until
from unit.cluster.api import JsonObject

INTEGER: JsonObject = {"type": "integer"}
WHERE = "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule"
TYPES = fields(
    i=INTEGER,
    d={"type": "number"},
    s=text(),
    n=text(nullable=True),
    l={"type": "array", "maxItems": 5, "items": INTEGER},
    o={"type": "object", "properties": {"a-b": INTEGER, "namespace": text()}},
    either={"x-kubernetes-int-or-string": True},
    open={"x-kubernetes-preserve-unknown-fields": True},
    t={"type": "string", "format": "date-time"},
)
UNCOMPILABLE = [
    ("self.zz == 1", 5, "undefined field 'zz'"),
    ("self.open.a == 1", 5, "undefined field 'open'"),
    ("has(self.zz)", 4, "undefined field 'zz'"),
    ("self.i == 'a'", 8, "found no matching overload for '_==_' applied to '(int, string)'"),
    ("self.i == self.d", 8, "found no matching overload for '_==_' applied to '(int, double)'"),
    ("self.n == null", 8, "found no matching overload for '_==_' applied to '(string, null)'"),
    ("self.t == 1", 8, "found no matching overload for '_==_' applied to '(timestamp, int)'"),
    (
        "self.s.startsWith(1)",
        18,
        "found no matching overload for 'startsWith' applied to 'string.(int)'",
    ),
    (
        "self.l.all(x, x == 'a')",
        17,
        "found no matching overload for '_==_' applied to '(int, string)'",
    ),
    ("foo(self.i)", 4, "undeclared reference to 'foo' (in container '')"),
    ("self.s.matches('(')", 16, "invalid matches argument"),
    ("[1, 'a'].size() == 2", 5, "expected type 'int' but found 'string'"),
    ("self.o.a$ == 1", 9, "Syntax error: token recognition error at: '$'"),
]


def _pointed(rule: str, column: int, message: str) -> str:
    dots = "." * (column - 1)
    return f"compilation failed: ERROR: <input>:1:{column}: {message}\n | {rule}\n | {dots}^"


def _shown(rule: str) -> str:
    return (
        f'{{"Rule":"{rule}","Message":"","MessageExpression":"","Reason":null,"FieldPath":"",'
        '"OptionalOldSelf":null}'
    )


async def test_a_rule_that_cannot_be_right_is_refused_where_it_is_wrong(
    target: Target,
) -> None:
    for rule, column, message in UNCOMPILABLE:
        reply = await tried(target, fields(spec=ruled(TYPES, rule)))
        told = _pointed(rule, column, message)
        assert causes(reply) == {(INVALID, WHERE, f"Invalid value: {_shown(rule)}: {told}")}


async def test_a_rule_is_a_question(target: Target) -> None:
    reply = await tried(target, fields(spec=ruled(TYPES, "self.i")))
    told = "cel expression must evaluate to a bool"
    assert causes(reply) == {(INVALID, WHERE, f"Invalid value: {_shown('self.i')}: {told}")}


async def test_properties_are_spelt_so_that_rules_can_name_them(target: Target) -> None:
    rules = ("self.o.a__dash__b == 1", "self.o.__namespace__ == 'x'", "self.i < self.d")
    assert (await tried(target, fields(spec=ruled(TYPES, *rules)))).status == 201


def _judging() -> JsonObject:
    limits = fields(low=INTEGER, high=INTEGER)
    forbidden = {
        "rule": "self.low <= self.high",
        "message": "low must not be above high",
        "reason": "FieldValueForbidden",
        "fieldPath": ".low",
    }
    return spec(
        plain=ruled(INTEGER, "self > 0"),
        told=ruled(INTEGER, {"rule": "self > 0", "message": "must be positive"}),
        computed=ruled(text(), {"rule": "self != 'bad'", "messageExpression": "'got ' + self"}),
        empty=ruled(
            text(), {"rule": "self != 'bad'", "messageExpression": "''", "message": "fallback"}
        ),
        limits=ruled(limits, forbidden, {"rule": "has(self.low)", "reason": "FieldValueRequired"}),
        failing=ruled(INTEGER, "10 / self > 0"),
        either=ruled(
            {"x-kubernetes-int-or-string": True, "maxLength": 5},
            "type(self) == int ? self < 10 : self.endsWith('%')",
            "self > 3",
        ),
        map={
            "type": "object",
            "maxProperties": 5,
            "additionalProperties": ruled(INTEGER, "self % 2 == 0"),
        },
        list={"type": "array", "maxItems": 5, "items": ruled(text(), "self.size() > 1")},
        choice=text(enum=["a"]),
    )


BROKEN: list[tuple[JsonObject, Causes]] = [
    ({"plain": 0}, {(INVALID, "spec.plain", "Invalid value: 0: failed rule: self > 0")}),
    ({"told": 0}, {(INVALID, "spec.told", "Invalid value: 0: must be positive")}),
    ({"computed": "bad"}, {(INVALID, "spec.computed", 'Invalid value: "bad": got bad')}),
    ({"empty": "bad"}, {(INVALID, "spec.empty", 'Invalid value: "bad": fallback')}),
    (
        {"limits": {"low": 2, "high": 1}},
        {(FORBIDDEN, "spec.limits.low", "Forbidden: low must not be above high")},
    ),
    (
        {"limits": {"high": 1}},
        {
            (
                INVALID,
                "spec.limits",
                'Invalid value: "object": no such key: low evaluating rule: '
                "low must not be above high",
            ),
            (REQUIRED, "spec.limits", "Required value: failed rule: has(self.low)"),
        },
    ),
    (
        {"failing": 0},
        {
            (
                INVALID,
                "spec.failing",
                'Invalid value: "integer": division by zero evaluating rule: 10 / self > 0',
            )
        },
    ),
    (
        {"either": "5%"},
        {
            (
                INVALID,
                "spec.either",
                "Invalid value: \"\": 'no such overload': call arguments did not match a supported "
                "operator, function or macro signature for rule: self > 3",
            )
        },
    ),
    (
        {"map": {"a": 1, "b": 2}},
        {(INVALID, "spec.map[a]", "Invalid value: 1: failed rule: self % 2 == 0")},
    ),
    (
        {"list": ["a", "bb"]},
        {(INVALID, "spec.list[0]", 'Invalid value: "a": failed rule: self.size() > 1')},
    ),
    (
        {"choice": "b", "plain": 0},
        {
            (
                "FieldValueNotSupported",
                "spec.choice",
                'Unsupported value: "b": supported values: "a"',
            ),
            (
                INVALID,
                "<nil>",
                "Invalid value: null: some validation rules were not checked because the object "
                "was invalid; correct the existing errors to complete validation",
            ),
        },
    ),
]


async def test_a_broken_rule_is_told_with_its_message_reason_and_place(
    target: Target,
) -> None:
    kind = await target.define(schema=_judging())
    for content, expected in BROKEN:
        reply = await posted(target, kind, content)
        assert (reply.status, causes(reply)) == (422, expected), content
    assert (await posted(target, kind, {"plain": 1, "computed": "good"})).status == 201


async def test_rules_of_the_whole_object_see_its_name(target: Target) -> None:
    rule = {"rule": "self.metadata.name.startsWith('ok')", "message": "call it ok"}
    kind = await target.define(schema=ruled(spec(a=text()), rule))
    assert (await posted(target, kind, {}, name="ok-1")).status == 201
    reply = await posted(target, kind, {}, name="no")
    assert causes(reply) == {(INVALID, "<nil>", "Invalid value: call it ok")}


async def test_rules_about_a_change_need_something_to_change(target: Target) -> None:
    fixed = {"rule": "self == oldSelf", "message": "immutable"}
    grows = {
        "rule": "oldSelf.hasValue() ? self >= oldSelf.value() : self == 0",
        "optionalOldSelf": True,
        "message": "starts at 0 and grows",
    }
    items: JsonObject = {**fields(k=text(), v=ruled(text(), fixed)), "required": ["k"]}
    keyed = {
        "type": "array",
        "maxItems": 5,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        "items": items,
    }
    kind = await target.define(
        schema=spec(fixed=ruled(text(), fixed), count=ruled(INTEGER, grows), list=keyed)
    )
    assert causes(await posted(target, kind, {"count": 1})) == {
        (INVALID, "spec.count", "Invalid value: 1: starts at 0 and grows")
    }
    content = {"fixed": "a", "count": 0, "list": [{"k": "1", "v": "x"}, {"k": "2", "v": "y"}]}
    await target.create(kind.path(), kind.object("a", spec=content))
    path = kind.path("a")
    assert causes(await merged(target, path, {"spec": {"fixed": "b"}})) == {
        (INVALID, "spec.fixed", 'Invalid value: "b": immutable')
    }
    moved = [{"k": "2", "v": "y"}, {"k": "1", "v": "z"}]
    assert causes(await merged(target, path, {"spec": {"list": moved}})) == {
        (INVALID, "spec.list[1].v", 'Invalid value: "z": immutable')
    }
    assert (await merged(target, path, {"spec": {"fixed": None, "count": 3}})).status == 200
    assert (await merged(target, path, {"spec": {"fixed": "c"}})).status == 200


async def test_what_was_broken_before_and_did_not_change_only_warns(target: Target) -> None:
    kind = await target.define(schema=spec(a=INTEGER, b=INTEGER))
    await target.create(kind.path(), kind.object("a", spec={"a": 0}))
    await redefined(target, kind, spec(a=ruled(INTEGER, "self > 0"), b=INTEGER))

    async def refused() -> Any:
        return await posted(target, kind, {"a": 0})

    await until(refused, lambda reply: reply.status == 422)
    reply = await merged(target, kind.path("a"), {"spec": {"b": 1}})
    warning = "spec.a: Invalid value: 0: failed rule: self > 0"
    assert (reply.status, warnings(reply)) == (200, [warning])


ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, "
    "maps, and strings are declared)"
)


async def test_a_rule_that_may_cost_too_much_is_refused_with_its_definition(
    target: Target,
) -> None:
    def listed(**more: Any) -> JsonObject:
        schema = {"type": "array", "items": {"type": "string", **more.pop("each", {})}, **more}
        return spec(x=ruled(schema, "self.all(x, self.exists(y, x == y))"))

    root = "spec.validation.openAPIV3Schema"
    where = f"{root}.properties[spec].properties[x].x-kubernetes-validations[0].rule"
    total = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
    over = "exceeds budget by factor of"
    assert causes(await tried(target, listed())) == {
        (FORBIDDEN, where, f"Forbidden: estimated rule cost {over} more than 100x {ADVICE}"),
        (
            FORBIDDEN,
            where,
            "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire "
            "OpenAPIv3 schema",
        ),
        (FORBIDDEN, root, f"Forbidden: {total} {over} more than 100x {ADVICE}"),
    }
    assert (await tried(target, listed(maxItems=100, each={"maxLength": 100}))).status == 201


LOOPS = (
    "self.l.all(a, self.l.all(b, self.k.all(s, self.p.all(o, self.q.all(f, self.r.all(d, {}))))))"
)
PRICES = {
    "true": 0,
    "f": 1,
    "a > 0": 2,
    "self.n > 0": 3,
    "a + b > 0": 4,
    "a - b < 1": 4,
    "a == b": 2,
    "self.n == self.n": 4,
    "d > 1.5": 2,
    "s != ''": 1,
    "s == s": 6,
    "s < 'a'": 2,
    "o.x > 0": 3,
    "o == o": 2,
    "f == true": 1,
    "a >= 0 && b >= 0": 4,
}
"""What the innermost expression costs, a million times over."""


async def test_every_step_of_a_loop_has_its_price(target: Target) -> None:
    def listed(most: int, **item: Any) -> JsonObject:
        return {"type": "array", "maxItems": most, "items": item}

    schema = fields(
        l=listed(10, **INTEGER),
        k=listed(100, **text(10)),
        p=listed(100, **fields(x=INTEGER)),
        q=listed(10, type="boolean"),
        r=listed(10, type="number"),
        n=INTEGER,
    )
    for inner, price in PRICES.items():
        reply = await tried(target, fields(spec=ruled(schema, LOOPS.format(inner))))
        factor = f"estimated rule cost exceeds budget by factor of {36.6 + 10 * price:.1f}x"
        assert any(factor in cause[2] for cause in causes(reply)), (inner, reply.body)


async def test_a_run_that_costs_too_much_is_stopped(target: Target) -> None:
    rule = "self.all(x, self.exists(y, y == x))"
    schema = {"type": "array", "maxItems": 1200, "items": INTEGER}
    kind = await target.define(schema=spec(x=ruled(schema, rule)))
    reply = await posted(target, kind, {"x": list(range(900))})
    told = "no further validation rules will be run due to call cost exceeds limit for rule"
    stopped = "operation cancelled: actual cost limit exceeded"
    assert causes(reply) == {
        (INVALID, "spec.x", f"Invalid value: \"array\": '{stopped}': {told}: {rule}")
    }
    assert (await posted(target, kind, {"x": list(range(50))})).status == 201
