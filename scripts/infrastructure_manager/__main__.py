"""`python -m infrastructure_manager build|path|up`: the real Infrastructure Manager at hand.

Results go to standard output, so that a shell can use them; progress goes to standard error.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from foreign.__main__ import INTERRUPTED, located
from foreign.catalogue import IM
from foreign.errors import ProgramError, announce, explain
from foreign.process import scratch
from infrastructure_manager.server import InfrastructureManager

# How often `up` looks whether it still runs.
CHECK_SECONDS = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "build":
            print(IM.provide(os.environ))
        elif options.command == "path":
            print(located(IM, os.environ))
        else:
            _up(options.folder, options.port, options.set)
    except ProgramError as error:
        explain(error)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="infrastructure_manager", description=IM.requirements[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="install what is missing and print the Python that has it")
    commands.add_parser("path", help="print the Python that has it, or fail if there is none")
    up = commands.add_parser("up", help="run it on loopback until Ctrl-C")
    up.add_argument("--folder", type=Path, help="keep everything here; else nothing is kept")
    up.add_argument("--port", type=int, default=0, help="any free one, if none is given")
    up.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="of IM's own")
    return parser


def _up(folder: Path | None, port: int, settings: Sequence[str]) -> None:
    # Every polite end must run the clean-up, also where a script's shell had SIGINT ignored.
    for polite in (signal.SIGINT, signal.SIGTERM):
        signal.signal(polite, signal.default_int_handler)
    given = dict(setting.split("=", 1) for setting in settings)
    if folder is not None:
        _run(InfrastructureManager(folder, given, port=port))
        return
    with scratch(Path(tempfile.gettempdir())) as temporary:
        _run(InfrastructureManager(temporary / "im", given, port=port))


def _run(manager: InfrastructureManager) -> None:
    started = time.monotonic()
    with manager:
        announce(f"ready pid={manager.pid} after {time.monotonic() - started:.1f} s")
        announce(f"faults of the Dummy cloud: {manager.folder / 'faults.json'}")
        print(manager.url, flush=True)
        with suppress(KeyboardInterrupt):
            while True:
                time.sleep(CHECK_SECONDS)
                manager.check()
    announce("stopped")


if __name__ == "__main__":
    sys.exit(main())
