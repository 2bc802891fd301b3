"""Options from the environment: a frozen Struct, and a variable for each of its fields.

    class Options(Struct, frozen=True):
        image: str = "quintant"
        check_interval: Duration = 30.0

    from_environment(Options, os.environ, prefix="PORTAL_")     # PORTAL_CHECK_INTERVAL=5s

A variable has the name of its field in capitals, after the prefix. One that is absent or empty
leaves the default; one that makes no sense is a ConfigError that names it and says what is
expected. The type of a field says how it is read; flags are read the same way (`parse_option`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct
from msgspec.structs import fields

from quintant.core.errors import ConfigError

T = TypeVar("T", bound=Struct)

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|)")
_WHOLE = re.compile(r"-?[0-9]+", re.ASCII)
_TRUE, _FALSE = ("1", "t", "true"), ("0", "f", "false")


class Parser(Struct, frozen=True):
    """How the text of an option is read; `Annotated[int, Parser(…)]` gives a field its own."""

    expected: str
    """What the text should be, to follow the word "expected"."""
    parse: Callable[[str], Any]
    """Raises ValueError for any other text."""

    def read(self, name: str, text: str, hint: str = "") -> Any:
        """What the text says; ConfigError with the name of the variable or flag."""
        try:
            return self.parse(text)
        except ValueError:
            raise ConfigError(
                f"{name}={text} cannot be used", because=f"expected {self.expected}", hint=hint
            ) from None


def from_environment(kind: type[T], environ: Mapping[str, str], *, prefix: str = "") -> T:
    """The options that an environment gives."""
    given = {}
    for field in fields(kind):
        name = variable(field.name, prefix)
        if environ.get(name):
            given[field.name] = parse_option(kind, field.name, environ[name], name=name)
        elif field.required:
            wanted = parser_of(kind, field.name).expected
            raise ConfigError(f"{name} is not set", because=f"expected {wanted}")
    return kind(**given)


def variable(field: str, prefix: str = "") -> str:
    """The variable that gives a field."""
    return prefix + field.upper()


def parse_option(kind: type[Any], field: str, text: str, *, name: str) -> Any:
    """The value of one field as a text gives it; `name` is the variable or flag it came by."""
    default = next(each.default for each in fields(kind) if each.name == field)
    # A text or number can be written as it is; nothing else is shown as a user would write it.
    shown = isinstance(default, str | int) and not isinstance(default, bool) and default != ""
    return parser_of(kind, field).read(name, text, f"{name}={default}" if shown else "")


def parser_of(kind: type[Any], field: str) -> Parser:
    """How a field is read."""
    return _parser(get_type_hints(kind, include_extras=True)[field])


def _parser(hint: Any) -> Parser:
    base, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    for extra in extras:
        if isinstance(extra, Parser):
            return extra
    if get_origin(base) in (Union, UnionType):
        (only,) = (each for each in get_args(base) if each is not NoneType)
        return _parser(only)
    if get_origin(base) is Literal:
        return one_of(get_args(base))
    if base is int:
        return whole_number(*_bounds(extras))
    if base in _PARSERS:
        return _PARSERS[base]
    raise TypeError(f"an option cannot be {base}: give it a Parser")


def one_of(words: Collection[str]) -> Parser:
    """One of several words."""

    def parse(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    return Parser(" or ".join(words), parse)


def whole_number(low: int = 1, high: int | None = None) -> Parser:
    """A whole number within bounds."""

    def parse(text: str) -> int:
        number = int(text) if _WHOLE.fullmatch(text) else low - 1
        if number < low or (high is not None and number > high):
            raise ValueError
        return number

    upto = "on" if high is None else f"to {high}"
    return Parser(f"a number from {low} {upto}", parse)


def _bounds(extras: Collection[Any]) -> tuple[int, int | None]:
    """Those of the field's Meta; a count of nothing is seldom meant, so 1 is the least."""
    for extra in extras:
        if isinstance(extra, Meta):
            return 1 if extra.ge is None else int(extra.ge), _most(extra)
    return 1, None


def _most(meta: Meta) -> int | None:
    return None if meta.le is None else int(meta.le)


def _seconds(text: str) -> float:
    found = _DURATION.fullmatch(text)
    if found is None or not float(found[1]):
        raise ValueError
    return float(found[1]) * _UNITS[found[2]]


def _number(text: str) -> float:
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text, re.ASCII):
        raise ValueError
    return float(text)


def _switch(text: str) -> bool:
    if text.lower() not in (*_TRUE, *_FALSE):
        raise ValueError
    return text.lower() in _TRUE


DURATION = Parser("a duration above zero such as 500ms, 30s, 5m or 10h", _seconds)
"""Seconds; a bare number is seconds, too."""
SWITCH = Parser("true or false", _switch)
"""Yes or no, as Go's flags have it: 1, t, true, 0, f, false."""
Duration = Annotated[float, DURATION]
"""The type of a field that holds seconds."""
_PARSERS: dict[Any, Parser] = {
    str: Parser("a text", str),
    bool: SWITCH,
    float: Parser("a number", _number),
    tuple[str, ...]: Parser(
        "words with commas between them",
        lambda text: tuple(word for each in text.split(",") if (word := each.strip())),
    ),
}
