"""Becomes another program that ends with the process that started it, however that ends.

`die_with_parent` makes the command line `python -I -S die_with_parent.py PARENT PROGRAM ARG...`. It
keeps its process id, so the one that the parent knows is the program's. A script rather than code
between fork and exec, which is not safe in a process with threads. It imports little: a start costs
ten milliseconds.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PR_SET_PDEATHSIG = 1
TERMINAL = "--terminal"
"""Before the parent: stdin is to be the terminal of the program's session."""
CANNOT, ABSENT = 126, 127
"""What shells end with when a program cannot be run, or is not there."""


def die_with_parent(command: Sequence[str], *, terminal: bool = False) -> list[str]:
    """A command line whose program ends with this process, where the kernel can see to that.

    With `terminal`, its stdin is one, and becomes the terminal that controls its session.
    """
    if sys.platform != "linux" and not terminal:
        return list(command)
    flags = [TERMINAL] if terminal else []
    return [sys.executable, "-I", "-S", __file__, *flags, str(os.getpid()), *command]


def main(parent: int, command: list[str]) -> int:
    """Ask the kernel to end us with the parent, then become the command; a code if we cannot."""
    if sys.platform == "linux":
        import ctypes  # Here, for who only makes command lines does without.

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have ended before the request: then nobody will tell.
    if os.getppid() != parent:
        return CANNOT
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"exec: {command[0]}: {error.strerror}", file=sys.stderr)
        return ABSENT if isinstance(error, FileNotFoundError) else CANNOT


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


if __name__ == "__main__":
    if sys.argv[1] == TERMINAL:
        _take_terminal()
        del sys.argv[1]
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
