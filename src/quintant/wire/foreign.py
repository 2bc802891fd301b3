"""JSON and YAML that others wrote: every limit that holds before it is believed, once for all.

    decode_json(body, Report, most=64 * 1024)

An answer, a request, a file or a field of somebody else may be deep, huge, cut, not UTF-8, of
another type, or hold numbers that nothing can count with. Whatever is wrong with it, MalformedInput
comes out, and nothing else: it fails the conversation that it came in, never the process. The text
of the error quotes nothing of the input, which may hold a secret.

Agents and operators both stand above this. Protobuf has its limits in `quintant.wire.protobuf`,
whose Malformed is a MalformedInput; YAML as kubectl reads it is `quintant.core.yaml`.
A decoder elsewhere in the product has a reason.
"""

from __future__ import annotations

import math
import re
from itertools import accumulate
from typing import Any, TypeVar, overload

import msgspec

MOST_BYTES = 1024 * 1024
"""Of an input, unless its reader says otherwise: a value takes thirty times its text in memory."""
MOST_DEPTH = 64
"""Levels that lists and mappings may be nested: ten times what is ever meant, and a tenth of what
a walk over them can bear."""
MOST_NODES = 100_000
"""Values of a YAML document, those that aliases repeat counted again: a second of reading."""
_LEAST, _MOST = -(2**63), 2**63 - 1
_LONG_NUMBER = re.compile(rb"[0-9]{19}")
"""The fewest digits that may not fit in 64 bits."""
# Possessive, and without an end that may be missing: linear on any input.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+["\\]?', re.DOTALL)
_NO_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}

T = TypeVar("T")


class MalformedInput(ValueError):
    """What somebody else wrote cannot be read; the text says why, and quotes none of it."""


@overload
def decode_json(body: bytes | str | msgspec.Raw, *, most: int = ...) -> Any: ...
@overload
def decode_json(body: bytes | str | msgspec.Raw, type: type[T], *, most: int = ...) -> T: ...
@overload
def decode_json(body: bytes | str | msgspec.Raw, type: Any, *, most: int = ...) -> Any: ...
def decode_json(body: bytes | str | msgspec.Raw, type: Any = Any, *, most: int = MOST_BYTES) -> Any:
    """The value of a type, as msgspec has types, in a JSON text; MalformedInput if there is none.

    A text of more than `most` bytes, or nested deeper than MOST_DEPTH, is refused unread, and so
    are whole numbers that do not fit in 64 bits. NaN and Infinity are not JSON. What is left as
    msgspec.Raw is not looked at: decode it here, too.
    """
    raw = _bytes(body, most)
    if _depth(raw) > MOST_DEPTH:
        raise MalformedInput(f"nested deeper than {MOST_DEPTH} levels")
    try:
        value = msgspec.json.decode(raw, type=type)
    except msgspec.ValidationError as error:
        raise MalformedInput(_without_quotes(error)) from None
    except msgspec.DecodeError:
        raise MalformedInput("no JSON") from None
    except UnicodeDecodeError:
        raise MalformedInput("not UTF-8") from None
    except RecursionError:
        raise MalformedInput("nested too deeply") from None
    if _LONG_NUMBER.search(raw):
        check_numbers(value)
    return value


def decode_yaml(
    text: bytes | str, type: Any = Any, *, most: int = MOST_BYTES, scalars_are_text: bool = False
) -> Any:
    """The value of a type in the one document of a YAML text; MalformedInput if there is none.

    The limits are those of `decode_json`; aliases count as what they stand for, and may not
    contain themselves. Tags of programming languages are refused. With `scalars_are_text`, `on`,
    0x10 and null stay what was written.
    """
    # PyYAML is loaded by those who read some: most programs speak JSON only.
    from quintant.wire.foreign_yaml import load

    value = load(_bytes(text, most), scalars_are_text)
    check_numbers(value)
    try:
        return value if type is Any else msgspec.convert(value, type)
    except msgspec.ValidationError as error:
        raise MalformedInput(_without_quotes(error)) from None


def check_numbers(value: Any) -> None:
    """MalformedInput if a number of a decoded value is not finite, or needs more than 64 bits."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise MalformedInput("a number is not finite")
    elif isinstance(value, int):
        if not _LEAST <= value <= _MOST:
            raise MalformedInput("a whole number does not fit in 64 bits")
    elif isinstance(value, dict):
        for key, each in value.items():
            check_numbers(key)
            check_numbers(each)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            check_numbers(each)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            check_numbers(getattr(value, name))


def _bytes(body: bytes | str | msgspec.Raw, most: int) -> bytes:
    try:
        raw = body.encode() if isinstance(body, str) else bytes(body)
    except UnicodeEncodeError:
        raise MalformedInput("not UTF-8") from None
    if len(raw) > most:
        raise MalformedInput(f"longer than {most} bytes")
    return raw


def _depth(raw: bytes) -> int:
    """How many lists and mappings are open at once in a JSON text, or more."""
    if (most := raw.count(b"[") + raw.count(b"{")) <= MOST_DEPTH:
        return most
    brackets = _STRING.sub(b"", raw).translate(None, _NO_BRACKET)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def _without_quotes(error: msgspec.ValidationError) -> str:
    """What msgspec says of a type and a path, without a value that it repeats."""
    text = str(error)
    if text.startswith(("Expected `", "Object missing required field")):
        return text
    _, at, path = text.rpartition(" - at ")
    return f"not of the expected form{at}{path if at else ''}"
