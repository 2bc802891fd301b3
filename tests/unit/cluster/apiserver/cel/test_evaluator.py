from __future__ import annotations

from pathlib import Path

import pytest

from quintant.cluster.apiserver.cel import CelError, TooExpensive
from unit.cluster.apiserver.cel.sample_object import program, run, value

_HERE = Path(__file__).parent
_NO_QUANTITY = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_UNREAD = "parse error during conversion from string"
_NO_ADDRESS = f'IP Address "x" {_UNREAD}: ParseAddr("x"): unable to parse IP'
_MAPPED = '"::ffff:1.2.3.4"'
_UNCONVERTED = "type conversion error from 'string' to"


def _lines(name: str) -> list[str]:
    return (_HERE / name).read_text().splitlines()


@pytest.mark.parametrize("expression", _lines("true.txt"))
def test_what_a_real_server_finds_true_is_true(expression: str) -> None:
    assert value(expression) is True


@pytest.mark.parametrize("expression", _lines("false.txt"))
def test_what_a_real_server_finds_false_is_false(expression: str) -> None:
    assert value(expression) is False


@pytest.mark.parametrize("zone", ["\xb2:00", "99:00", f"{'9' * 30}:00", "z" * 300])
def test_a_time_zone_that_is_none_fails_its_expression_alone(zone: str) -> None:
    with pytest.raises(CelError, match="unknown time zone"):
        value(f"self.t.getHours('{zone}') == 1")


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("self.i / 0 == 1", "division by zero"),
        ("self.i % 0 == 1", "modulus by zero"),
        ("self.l[5] == 1", "index out of bounds: 5"),
        ("self.l[-1] == 1", "index out of bounds: -1"),
        ("self.m['zz'] == 1", "no such key: zz"),
        ("self.m.zz == 1", "no such key: zz"),
        ("self.lo[2].n == 'a'", "no such key: n"),
        ("self.lo.all(x, x.n != 'z')", "no such key: n"),
        ("self.lo.exists(x, x.n == 'zzz')", "no such key: n"),
        ("self.l.filter(x, x > 10).max() == 1", "max called on empty list"),
        ("self.s.substring(20) == ''", "index out of range: 20"),
        ("self.s.charAt(20) == ''", "index out of range: 20"),
        ("self.either > 5", "no such overload"),
        ("self.either + 1 == 2", "no such overload"),
        ("self.n == 'x'", "no such key: n"),
        ("self.?n.value() == 'x'", "optional.none() dereference"),
        ("quantity('1.5').asInteger() == 1", "cannot convert value to integer"),
        (
            "quantity(self.s).asInteger() == 1",
            _NO_QUANTITY,
        ),
        (
            "ip('x').family() == 4",
            _NO_ADDRESS,
        ),
        (
            "ip('::ffff:1.2.3.4').family() == 6",
            'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed',
        ),
        (
            "url('../a').getHost() == ''",
            'URL parse error during conversion from string: parse "../a": invalid URI for request',
        ),
        ("self.l.slice(0, 9) == []", "cannot slice(0, 9), list is length 3"),
        ("9223372036854775807 + self.i == 1", "integer overflow"),
        ("self.i * 9223372036854775807 == 1", "integer overflow"),
        ("self.b && self.l[9] == 1", "index out of bounds: 9"),
        ("self.l.all(x, x / (x - 1) > 0)", "division by zero"),
        ("dyn(self.i) + dyn('a') == 1", "no such overload"),
        (
            "timestamp(self.s) > self.t",
            f"{_UNCONVERTED} 'google.protobuf.Timestamp'",
        ),
        (
            "duration(self.s) > self.u",
            f"{_UNCONVERTED} 'google.protobuf.Duration'",
        ),
        ("self.s.matches(self.s + '(')", "error parsing regexp: missing closing ): `hello world(`"),
    ],
)
def test_what_fails_says_why_as_a_real_server_does(expression: str, why: str) -> None:
    with pytest.raises(CelError) as told:
        value(expression)
    assert str(told.value) == why


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("'%e'.format([2.5])", "2.500000\N{MULTIPLICATION SIGN}10⁰⁰"),
        ("'%s'.format([{'b': 2, 'a': 'x'}])", '{"a":"x", "b":2}'),
        ("'%s'.format([[1, 'a', true, 1.5, null]])", '[1, "a", true, 1.500000, null]'),
        ("'%x %X %o %b %d %.1f'.format([255, 'jk', -8, true, 5u, 1.25])", "ff 6A6B -10 1 5 1.2"),
        ("'%s %%'.format([duration('1h')])", "3600s %"),
        ("'%s'.format([type(1)])", "int"),
        ("'%s'.format([b'abc'])", "abc"),
        ("string(1e21)", "1e+21"),
        ("string(duration('1.5s'))", "1.5s"),
        ("strings.quote('a\\n')", '"a\\n"'),
    ],
)
def test_values_are_spelt_as_a_real_server_spells_them(expression: str, text: str) -> None:
    assert value(expression) == text


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ("true", 0),
        ("self.i == 7", 3),
        ("self.s == 'hello world'", 4),
        ("self.l.all(x, x > 0)", 2 + 1 + 3 * 5),
        ("has(self.i)", 1),
        ("[1, 2].size() == 2", 12),
    ],
)
def test_every_step_has_its_price(expression: str, cost: int) -> None:
    assert run(expression).cost == cost


def test_a_run_beyond_its_limit_is_stopped() -> None:
    with pytest.raises(TooExpensive, match="operation cancelled: actual cost limit exceeded"):
        run("self.l.all(x, self.l.all(y, x + y > 0))", limit=20)


@pytest.mark.parametrize(
    ("expression", "bound"),
    [
        ("self.i == 7", 3),
        ("self.l.all(x, x > 0)", 100),
        ("self.s.matches('^a+$')", 100),
        ("self.l.all(x, self.l.all(y, x == y))", 10 * 100),
    ],
)
def test_the_worst_cost_is_bounded_by_the_schema(expression: str, bound: int) -> None:
    assert program(expression).cost <= bound


def test_what_no_schema_bounds_costs_more_than_anything() -> None:
    assert program("[self.s].join(self.s).size() > 1").cost < 1_000
    assert program("string(self.either).split('').all(x, x != 'a')").cost > 10_000_000
