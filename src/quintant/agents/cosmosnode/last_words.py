"""Why a program of a pod ended: in its log, and in the file that Kubernetes shows."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress

from quintant.agents.embedded_node import PathOutsidePod, pod_path

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
    with suppress(OSError, PathOutsidePod):
        path = pod_path(TERMINATION_LOG, environ)
        if path.is_file():
            path.write_bytes(text.encode()[:_MOST].decode("utf-8", "ignore").encode())


def run_word(parser: ArgumentParser, arguments: Sequence[str]) -> None:
    """Run what a command line asks for; the program ends with 1 and says why if it cannot."""
    given = Namespace()
    try:
        parser.parse_args(arguments, given)
        given.run(given)
    except (NodeToolError, PathOutsidePod) as error:
        leave(error)
        sys.exit(1)
    except OSError as error:
        leave(NodeToolError(f"cannot {given.word}", str(error)))
        sys.exit(1)
