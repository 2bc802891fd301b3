"""What the first process of a container has to do: end when it is told to.

The kernel ends every other process that does not handle SIGTERM; the first one of a container it
leaves running, and the pod lasts until its grace period is over.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

FIRST = 1
EXIT_CODE = 128 + signal.SIGTERM
"""What a shell says of a process that SIGTERM ended."""


def end_on_sigterm(pid: int) -> None:
    """Have SIGTERM end this process if it is the first one; programs may handle it otherwise."""
    if pid == FIRST and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _end)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(EXIT_CODE)
