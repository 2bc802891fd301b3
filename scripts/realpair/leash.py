"""Become another program that dies with the process that started us.

Run as a script: `python -I -S leash.py PARENT PROGRAM ARGUMENT...`. It keeps its pid over exec,
so the pid the parent knows is the program's. A script and not a preexec_fn, because forking a
process that has threads to run Python in the child may deadlock.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Ask the kernel to kill us with the parent, then become the command."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    # The parent may have died before the request above: then nobody will announce it.
    if os.getppid() == parent:
        os.execvp(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
