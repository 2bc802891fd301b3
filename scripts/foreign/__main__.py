"""`python -m foreign list|path|build`: programs of others at hand.

Results go to standard output, so that a shell can use them; progress goes to standard error.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from foreign.catalogue import PROGRAMS
from foreign.errors import ProgramError, explain
from foreign.go_program import GoProgram
from foreign.python_program import PythonProgram

# What a shell reports for a program ended by Ctrl-C.
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> int:
    """Run one command; return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "list":
            _list(environ)
        elif options.command == "path":
            print(located(PROGRAMS[options.name], environ))
        else:
            for name in options.name:
                print(PROGRAMS[name].provide(environ))
    except ProgramError as error:
        explain(error)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="foreign", description="Programs of others.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="print every program, its version, and where it is")
    path = commands.add_parser("path", help="print where a program is, or fail if it is not made")
    path.add_argument("name", choices=sorted(PROGRAMS))
    build = commands.add_parser("build", help="make what is missing and print where it is")
    build.add_argument("name", choices=sorted(PROGRAMS), nargs="+")
    return parser


def _list(environ: Mapping[str, str]) -> None:
    for name, program in sorted(PROGRAMS.items()):
        of = program.version if isinstance(program, GoProgram) else program.requirements[0]
        print(f"{name:<20} {of:<28} {program.locate(environ) or '-'}")


def located(program: GoProgram | PythonProgram, environ: Mapping[str, str]) -> Path:
    """Return where a program is; ProgramError if it has to be made first."""
    found = program.locate(environ)
    if found is None:
        raise ProgramError(
            f"cannot find {program.name}",
            why=f"{program.variable} does not name it, and it is not in the cache",
            hint=f"python -m foreign build {program.name}",
        )
    return found


if __name__ == "__main__":
    sys.exit(main())
