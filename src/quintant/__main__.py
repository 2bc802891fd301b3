"""The script `quintant`, and `python -m quintant`: the command line.

A program of a pod is run without it: what the command line loads is a tenth of a small sidecar.
"""

from __future__ import annotations

import os
import sys

from quintant.agents import AGENTS, run_agent
from quintant.extras import missing

INTERRUPTED = 130
"""What a shell says of a program that Ctrl-C ended."""


def main() -> None:
    """Run what the words ask for."""
    match sys.argv[1:]:
        case ["agent", name, *arguments] if name in AGENTS and not missing(name):
            _run_agent(name, arguments)
        case _:
            from quintant.cli import main as command_line

            command_line()


def _run_agent(name: str, arguments: list[str]) -> None:
    try:
        run_agent(name, arguments)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    # In a pod of the embedded cluster, isolated, so that nothing was loaded before us to do it.
    if "QUINTANT_ISOLATED" in os.environ:
        from quintant.agents.dns.getaddrinfo import install

        install()
    main()
