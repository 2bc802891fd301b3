"""Whatever somebody else wrote: it is read, or MalformedInput comes out, and it costs little."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from quintant.wire.foreign import (
    MOST_BYTES,
    MOST_DEPTH,
    MOST_NODES,
    MalformedInput,
    decode_json,
    decode_yaml,
)

PLAIN = some.recursive(
    some.none() | some.booleans() | some.integers(-(2**63), 2**63 - 1) | some.text(),
    lambda below: some.lists(below) | some.dictionaries(some.text(), below),
    max_leaves=20,
)


class Report(msgspec.Struct):
    """Something that is expected."""

    count: int = 0
    ratio: float = 0.0
    state: Literal["up", "down"] = "up"
    names: dict[str, Any] = {}


@given(PLAIN)
def test_what_is_json_is_read(value: Any) -> None:
    assert decode_json(json.dumps(value)) == value
    assert decode_json(json.dumps(value, ensure_ascii=False).encode()) == value


@given(some.binary(max_size=300) | some.text(alphabet='[]{}",:\\0n', max_size=300))
def test_any_bytes_are_read_or_malformed(body: bytes | str) -> None:
    for read in (decode_json, decode_yaml):
        with suppress(MalformedInput):
            read(body)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[", b"[" * 1_000, b"[" * 100_000, b"[" * 100 + b"]" * 100, b'{"a":' * 500,
        b'{"names": {"a": ' + b"[" * 900 + b"]" * 900 + b"}}", b'{"unknown":' + b"[" * 10_000,
        b'{"count": 1', b'"\xff"', b'{"names": {"a": "\xff"}}', b'"\\ud800"', b"NaN", b"Infinity",
        b'{"ratio": NaN}', b'{"ratio": 1e999}', b'{"ratio": -Infinity}', b'{"count": "1"}',
        b'{"count": 1.5}', b'{"count": 9223372036854775808}', b'{"count": -9223372036854775809}',
        b'{"names": {"a": [18446744073709551616]}}', b'{"count": ' + b"9" * 5_000 + b"}",
        b'{"state": "gone"}', b"[]", b"null", b"7", b"<html></html>", b" " * (MOST_BYTES + 1),
    ],
)  # fmt: skip
def test_a_lie_is_malformed_and_nothing_else(body: bytes) -> None:
    with pytest.raises(MalformedInput):
        decode_json(body, Report)


def test_what_looks_deep_in_a_text_is_not() -> None:
    for body in ('"' + "[" * 5_000 + '"', '["' + '\\"[{' * 500 + '"]', json.dumps([[]] * 5_000)):
        assert decode_json(body) == json.loads(body)
    deepest = "[" * MOST_DEPTH + "]" * MOST_DEPTH
    assert decode_json(deepest) == json.loads(deepest)
    with pytest.raises(MalformedInput, match="deeper than 64"):
        decode_json(f"[{deepest}]")


def test_a_text_that_never_ends_is_read_once_only() -> None:
    for body in ('"' + '\\"' * 400_000 + "\\", '["' * 300_000, "[" * 70 + '"' * 900_000):
        with pytest.raises(MalformedInput):
            decode_json(body)


def test_a_reader_sets_its_own_limit_of_bytes() -> None:
    assert decode_json(b"[1, 2]", list[int], most=6) == [1, 2]
    with pytest.raises(MalformedInput, match="longer than 5 bytes"):
        decode_json(b"[1, 2]", list[int], most=5)


def test_numbers_of_64_bits_and_long_fractions_are_numbers() -> None:
    body = b'{"count": 9223372036854775807, "ratio": 0.12345678901234567890123, "names": {}}'
    report = decode_json(body, Report)
    assert (report.count, round(report.ratio, 3)) == (2**63 - 1, 0.123)
    assert decode_json(b'{"ratio": 1000000000000000000000}', Report).ratio == 1e21


def test_an_error_quotes_nothing_of_the_input() -> None:
    for body in (b'{"state": "hunter2"}', b'{"names": hunter2}', b'{"count": "hunter2"}'):
        with pytest.raises(MalformedInput) as caught:
            decode_json(body, Report)
        assert "hunter2" not in str(caught.value)
        assert caught.value.__cause__ is None
    for text in (
        "a: !hunter2",
        "a: !!hunter2 b",
        "a: *hunter2",
        "a: &hunter2 1\nb: &hunter2 [",
        "a: %hunter2",
    ):
        with pytest.raises(MalformedInput) as caught:
            decode_yaml(text)
        assert "hunter2" not in str(caught.value)


def test_yaml_is_read_typed_or_as_text() -> None:
    text = "on: 0x10\nlist: [a, ~]\nbase: &b {k: 1}\nagain: *b\n"
    assert decode_yaml(text, scalars_are_text=True) == {
        "on": "0x10", "list": ["a", "~"], "base": {"k": "1"}, "again": {"k": "1"},
    }  # fmt: skip
    assert decode_yaml("count: 3\nstate: down\n", Report) == Report(3, state="down")
    assert decode_yaml("") is None


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)
STAIRS = f"a: &a {'[' * 40}{']' * 40}\nb: {'[' * 40}*a{']' * 40}\n"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100, "[" * 200_000, "- " * 2_000, "{a: " * 1_000, BOMB, STAIRS, "&a [*a]", "*a",
        "a: *b", "- x\n" * (MOST_NODES + 1), b"\xff\xfe\xff", "\x00", "a: b: c", "\t- a", "!!int x",
        "!!python/object/apply:os.getcwd []", "2026-99-99", "{[]: 1}", "9" * 5_000, "--- a\n--- b",
        "count: 9223372036854775808", "ratio: .nan", "ratio: .inf", "count: some", "[]",
        "!!binary \u00e4", "!!float x", "!!timestamp x", "!!bool x", "<<: 1",
        "x" * (MOST_BYTES + 1),
    ],
)  # fmt: skip
def test_a_lie_in_yaml_is_malformed_and_nothing_else(text: str | bytes) -> None:
    with pytest.raises(MalformedInput):
        decode_yaml(text, Report)
