"""Why a program of a pod ended: in its log, and in the file that Kubernetes shows."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from contextlib import suppress

from quintant.agents.embedded_node import path_in_pod

TERMINATION_LOG = "/dev/termination-log"
_MOST = 4096
"""Bytes that Kubernetes shows."""


class NodeToolError(Exception):
    """It cannot be done; the text says what, why, and what to try, a line each."""

    def __init__(self, what: str, because: str, hint: str = "") -> None:
        super().__init__(
            "\n".join((what, f"because: {because}", *([f"try: {hint}"] if hint else [])))
        )


def leave(error: BaseException, environ: Mapping[str, str] = os.environ) -> None:
    """Say why it ends."""
    text = str(error)
    print(text, file=sys.stderr, flush=True)
    path = path_in_pod(TERMINATION_LOG, environ)
    if os.path.isfile(path):
        with suppress(OSError), open(path, "w", encoding="utf-8") as file:
            file.write(text.encode()[:_MOST].decode("utf-8", "ignore"))


def run_word(parser: ArgumentParser, arguments: Sequence[str]) -> None:
    """Run what a command line asks for; the program ends with 1 and says why if it cannot."""
    given = parser.parse_args(arguments)
    try:
        given.run(given)
    except NodeToolError as error:
        leave(error)
        sys.exit(1)
    except OSError as error:
        leave(NodeToolError(f"cannot {given.word}", str(error)))
        sys.exit(1)
