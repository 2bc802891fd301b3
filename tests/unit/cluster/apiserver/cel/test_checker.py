from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.cel import Uncompilable, compile_rule
from unit.cluster.apiserver.cel.sample_object import SELF, program


@pytest.mark.parametrize(
    ("expression", "column", "message"),
    [
        ("self.zz == 1", 5, "undefined field 'zz'"),
        ("self.lo.all(x, x.z == 'a')", 17, "undefined field 'z'"),
        ("self.?zz.orValue(1) == 1", 5, "undefined field 'zz'"),
        ("has(self.i.x)", 4, "type 'int' does not support field selection"),
        ("has(self)", 5, "invalid argument to has() macro"),
        ("self.foo()", 9, "undeclared reference to 'foo' (in container '')"),
        ("self.s + 1", 8, "found no matching overload for '_+_' applied to '(string, int)'"),
        ("!self.i", 1, "found no matching overload for '!_' applied to '(int)'"),
        ("self.b && self.i", 15, "expected type 'bool' but found 'int'"),
        (
            "self.b ? 1 : 'a'",
            8,
            "found no matching overload for '_?_:_' applied to '(bool, int, string)'",
        ),
        (
            "self.o.?x == 1",
            11,
            "found no matching overload for '_==_' applied to '(optional_type(int), int)'",
        ),
        (
            "self.lo.max() > 1",
            12,
            "found no matching overload for 'max' applied to 'list(selfType.lo.@idx).()'",
        ),
        (
            "sets.contains(self.l,['a'])",
            14,
            "found no matching overload for 'sets.contains' applied to '(list(int), list(string))'",
        ),
        (
            "self.m.all(k, v, v == 'x')",
            20,
            "found no matching overload for '_==_' applied to '(int, string)'",
        ),
        ("duration('x') < self.u", 10, "invalid duration argument"),
        ("timestamp('x') < self.t", 11, "invalid timestamp argument"),
        ("{1:2,'a':3}.size() == 2", 6, "expected type 'int' but found 'string'"),
        (
            "self.i.all(x, x)",
            5,
            "expression of type 'int' cannot be range of a comprehension "
            "(must be list, map, or dynamic)",
        ),
    ],
)
def test_what_cannot_be_right_is_told_where_it_is(
    expression: str, column: int, message: str
) -> None:
    with pytest.raises(Uncompilable) as told:
        program(expression)
    pointer = f"\n | {expression}\n | {'.' * (column - 1)}^"
    assert str(told.value) == (f"compilation failed: ERROR: <input>:1:{column}: {message}{pointer}")


def test_every_complaint_is_told_in_the_order_of_the_text() -> None:
    with pytest.raises(Uncompilable) as told:
        program("math.abs(1) == foo(2)")
    assert re.findall(r"<input>:1:(\d+)", str(told.value)) == ["1", "9", "19"]


@pytest.mark.parametrize(
    ("expression", "type_"),
    [
        ("self.l.map(x, x * 2)", "list(int)"),
        ("self.lo.map(x, x.n)", "list(string)"),
        ("self.m.transformMap(k, v, string(v))", "map(string, string)"),
        ("self.?i.orValue(1)", "int"),
        ("self.either", "dyn"),
        ("[]", "list(dyn)"),
        ("type(self.l) == list", "bool"),
        ("self.t == null", "bool"),
        ("[dyn(1), 'a']", "list(dyn)"),
    ],
)
def test_expressions_have_the_type_of_what_they_are_about(expression: str, type_: str) -> None:
    found = program(expression).type
    assert found.replace("T", "dyn") == type_


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("int('x') == 1", "type conversion error from 'string' to 'int'"),
        ("bool('x')", "type conversion error from 'string' to 'bool'"),
        ("uint(-1) == 1u", "unsigned integer overflow"),
    ],
)
def test_a_constant_that_cannot_be_converted_makes_no_program(expression: str, why: str) -> None:
    with pytest.raises(Uncompilable) as told:
        program(expression)
    assert str(told.value) == f"program instantiation failed: {why}"


def test_a_program_knows_what_it_mentions() -> None:
    assert "oldSelf" in program("self.i == oldSelf.i").uses
    assert "oldSelf" not in program("self.s == 'oldSelf'").uses


@given(st.text(max_size=20) | st.text("self.io()[]{}'\"1+=<>&|?:, x", max_size=20))
def test_every_text_compiles_or_is_explained(text: str) -> None:
    with suppress(Uncompilable):
        assert compile_rule(text, {"self": SELF}).cost >= 0
