"""A command line as Go's programs read theirs: flags with values, and switches without.

Two dashes and `--flag value` or `--flag=value`; a switch takes its value after `=` only. What is
wrong is a FlagError that names the flag, in the words of the real program where it has some.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

TRUE, FALSE = ("1", "t", "T", "true", "TRUE", "True"), ("0", "f", "F", "false", "FALSE", "False")
HELP, VERSION = "help", "version"


class FlagError(Exception):
    """A command line that is not understood, or that asks for what there is not."""


class FlagWords(Struct, frozen=True):
    """What flags a program has."""

    flags: Collection[str]
    switches: Collection[str]
    dashes: int = 2
    """How many dashes its messages have: the standard library's reader writes one."""
    arguments: str = "takes no arguments, got"

    def shown(self, name: str) -> str:
        return f"{'-' * self.dashes}{name}"


class FlagValues(Struct, frozen=True):
    """What a command line says."""

    given: Mapping[str, Sequence[str]]

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def text(self, name: str, default: str = "") -> str:
        """The value of a flag; of several, the last."""
        return self.given[name][-1] if name in self.given else default

    def items(self, name: str) -> list[str]:
        """The values of a flag that may be repeated or hold several with commas."""
        values = ",".join(self.given.get(name, ())).split(",")
        return [value.strip() for value in values if value.strip()]

    def switch(self, name: str, *, default: bool) -> bool:
        """Whether a switch is on; FlagError if its value is neither."""
        text = self.text(name)
        if name in self and text not in (*TRUE, *FALSE):
            raise invalid_value(name, text, "expected true or false")
        return text in TRUE if name in self else default


def invalid_value(name: str, value: str, why: str) -> FlagError:
    """The complaint about a value."""
    return FlagError(f'invalid argument "{value}" for "--{name}" flag: {why}')


def parse_flags(arguments: Sequence[str], words: FlagWords) -> FlagValues:
    """A command line, read; FlagError for what is no flag of the program."""
    given: dict[str, list[str]] = {}
    for name, value in _pairs(iter(arguments), words):
        given.setdefault(name, []).append(value)
    return FlagValues(given)


def _pairs(rest: Iterator[str], words: FlagWords) -> Iterator[tuple[str, str]]:
    for argument in rest:
        if argument == "--" or not argument.startswith("-"):
            left = [*([] if argument == "--" else [argument]), *rest]
            if left:
                raise FlagError(f"{words.arguments} {left}")
            return
        name, equals, value = argument.lstrip("-").partition("=")
        if name in ("h", HELP):
            yield HELP, ""
        elif name == VERSION:
            yield VERSION, ""
        elif not name or name not in words.flags:
            raise FlagError(_unknown(name, words))
        elif equals:
            yield name, value
        elif name in words.switches:
            yield name, "true"
        else:
            yield name, _next(rest, name, words)


def _unknown(name: str, words: FlagWords) -> str:
    kind = "unknown flag:" if words.dashes > 1 else "flag provided but not defined:"
    return f"{kind} {words.shown(name)}"


def _next(rest: Iterator[str], name: str, words: FlagWords) -> str:
    value = next(rest, None)
    if value is None:
        raise FlagError(f"flag needs an argument: {words.shown(name)}")
    return value
