"""Why a program of a pod ended: in its log, and in the file that Kubernetes shows."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
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
