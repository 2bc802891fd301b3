"""corev1.Container: how a command of a container would end, if it is one of the simple kind. Pure.

`sleep N`, `exit N`, `true`, `false` and `echo …`, by themselves or as a line of `sh -c` with `;`,
`&&` and `||` between them. Of whatever else a command does nothing is known. The text is a
stranger's: what is too long, or cannot be taken apart, is not known either.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import PurePosixPath

from msgspec import Struct

LONGEST_LINE = 4096
"""Characters of a line that is looked at: those of the simple kind are short."""
MOST_SECONDS = 10.0 * 365 * 24 * 3600
"""A sleep that is longer lasts for ever."""
USAGE_ERROR = 2
"""With what a shell ends that cannot read its command's arguments."""
SHELLS = frozenset({"sh", "ash", "bash", "dash"})
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_TIME = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([smhd]?)")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_PUNCTUATION = frozenset("();<>|&")
_SEPARATORS = frozenset({";", "&&", "||"})


class Completion(Struct, frozen=True):
    """After how many seconds a program ends, and with what code."""

    seconds: float
    exit_code: int = 0


class _Unknown(Exception):
    """A command of another kind."""


class _Exit(Exception):
    """The shell ends."""


def command_completion(
    argv: Sequence[str], variables: Mapping[str, str] | None = None
) -> Completion | None:
    """How a command line ends; None if that cannot be known, or never happens."""
    try:
        found = _shell_line(argv)
        if found is None:
            return _Shell({}).run([("", list(argv))])
        return _Shell(variables or {}).run(_commands(found))
    except (_Unknown, ValueError):
        return None


class _Shell:
    """Adds up what a line of commands takes, and keeps the code of the last one."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables, self._seconds, self._code = variables, 0.0, 0

    def run(self, commands: Sequence[tuple[str, list[str]]]) -> Completion:
        try:
            for operator, words in commands:
                skipped = (operator == "&&" and self._code) or (operator == "||" and not self._code)
                if not skipped:
                    self._step([self._expanded(word) for word in words])
        except _Exit:
            pass
        return Completion(self._seconds, self._code)

    def _step(self, words: list[str]) -> None:
        if not words:
            raise _Unknown
        command = _COMMANDS.get(PurePosixPath(words[0]).name)
        if command is None:
            raise _Unknown
        command(self, words[1:])

    def sleep(self, words: list[str]) -> None:
        times = [_TIME.fullmatch(word) for word in words]
        if not words or None in times:
            raise _Unknown
        self._seconds += sum(float(time[1]) * _UNITS[time[2]] for time in times if time)
        if not isfinite(self._seconds) or self._seconds > MOST_SECONDS:
            raise _Unknown
        self._code = 0

    def exit(self, words: list[str]) -> None:
        if words:
            plain = words[0].isascii() and words[0].isdecimal() and len(words[0]) < 10
            self._code = int(words[0]) % 256 if plain else USAGE_ERROR
        raise _Exit

    def succeed(self, words: list[str]) -> None:
        self._code = 0

    def fail(self, words: list[str]) -> None:
        self._code = 1

    def _expanded(self, word: str) -> str:
        expanded = _VARIABLE.sub(self._value, word)
        if "$" in expanded:
            raise _Unknown
        return expanded

    def _value(self, variable: re.Match[str]) -> str:
        value = self._variables.get(variable[1] or variable[2])
        if value is None:
            raise _Unknown
        return value


_COMMANDS: Mapping[str, Callable[[_Shell, list[str]], None]] = {
    "sleep": _Shell.sleep,
    "exit": _Shell.exit,
    "true": _Shell.succeed,
    ":": _Shell.succeed,
    "echo": _Shell.succeed,
    "false": _Shell.fail,
}


def _shell_line(argv: Sequence[str]) -> str | None:
    """The line that a shell is given; None if the command is no shell."""
    if not argv:
        raise _Unknown
    if PurePosixPath(argv[0]).name not in SHELLS:
        if PurePosixPath(argv[0]).name == "exit":
            raise _Unknown
        return None
    if len(argv) < 3 or argv[1] != "-c" or len(argv[2]) > LONGEST_LINE:
        raise _Unknown
    return argv[2]


def _commands(line: str) -> list[tuple[str, list[str]]]:
    """The commands of a line, each with what stands before it."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for token in _tokens(line):
        if token in _SEPARATORS:
            found.append((token, []))
        elif set(token) <= _PUNCTUATION:
            raise _Unknown
        else:
            found[-1][1].append(token)
    if not found[-1][1] and found[-1][0] == ";":
        found.pop()
    return found


def _tokens(line: str) -> Iterator[str]:
    if "`" in line or "$(" in line:
        raise _Unknown
    text = line.strip().replace("\n", " ; ")
    reader = shlex.shlex(text, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    reader.commenters = ""
    return iter(reader)
