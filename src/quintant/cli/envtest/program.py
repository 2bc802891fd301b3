"""How a program that envtest starts begins and ends: help, version, errors, signals.

A command line that cannot be honoured ends it at once, with the code of the real program and a
message on standard error that names the flag.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from msgspec import Struct

from quintant.cli.envtest.flag_set import (
    HELP,
    VERSION,
    FlagError,
    FlagValues,
    FlagWords,
    parse_flags,
)
from quintant.core.errors import QuintantError

FAILED = 1
UNSUPPORTED = "not supported here"
"""What every refusal says of a flag that a real program would honour."""
_WIDTH = 40


class Program(Struct, frozen=True):
    """One of the programs."""

    name: str
    version: str
    """What it prints for --version."""
    words: FlagWords
    honoured: Mapping[str, str]
    run: Callable[[FlagValues], Coroutine[Any, Any, None]]
    misused: int = FAILED
    """What it ends with when its command line is wrong."""

    def main(self, arguments: Sequence[str]) -> int:
        """Run until a signal; the exit code."""
        try:
            values = parse_flags(arguments, self.words)
            if HELP in values or VERSION in values:
                print(self.help() if HELP in values else self.version)
                return 0
            self._run(values)
        except FlagError as error:
            print(self.explain(str(error)), file=sys.stderr)
            return self.misused
        except (QuintantError, OSError) as error:
            print(f"Error: {self.name} cannot start\n{error}", file=sys.stderr)
            return FAILED
        return 0

    def _run(self, values: FlagValues) -> None:
        # Loaded by those who have something to do.
        from quintant.runtime.manager.loops import loop_factory
        from quintant.runtime.observe import logs

        logs.configure(level="error")
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(self.run(values))

    def explain(self, why: str) -> str:
        """What is printed of a command line that cannot be honoured."""
        if "\n" in why:
            return f"Error: {why}"
        lines = [f"Error: {why}"]
        if UNSUPPORTED in why:
            lines.append(f"because: this {self.name} is Quintant's, for tests")
        return "\n".join((*lines, f"try: {self.name} --help for the flags that it honours"))

    def help(self) -> str:
        """The flags, one to a line, as those who look for one expect it."""
        flags = (f"      --{name:{_WIDTH}}{text}" for name, text in sorted(self.honoured.items()))
        head = f"Quintant's stand-in for {self.name}, for the test kits that start one."
        return "\n".join((head, "", "Usage:", f"  {self.name} [flags]", "", "Flags:", *flags))
