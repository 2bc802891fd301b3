"""Runs a program, and ends it with all that it started as soon as nobody holds the other end.

    python -I -S keeper.py FOLDER COMMAND...

Standard input is a pipe. When it ends, by the hand of who started this or by its death, everything
below this process is killed, daemons in sessions of their own as well: this process is the
subreaper of them all. Then FOLDER is removed. A script with few imports: it starts with every life.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
ABSENT, CANNOT = 127, 126
"""What shells end with when a program is not there, or cannot be run."""
MOST_ROUNDS = 100_000
"""Of killing: who is born while others are killed is met in the next one."""
ROUND_SECONDS = 0.01
"""Until the next one, if nobody has died yet; by the program's clock, so perhaps far less."""


def main(folder: str, command: list[str]) -> int:
    """Run a command to its end, or to that of standard input; its exit code as a shell has it."""
    linux = sys.platform == "linux"
    if linux:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = os.fork()
    if child == 0:
        _become(command, linux)
    code = _wait(child, ended)
    _kill_all(child)
    _remove(folder)
    return code


def _become(command: list[str], linux: bool) -> None:
    os.setsid()
    if linux:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"exec: {command[0]}: {error.strerror}\n".encode())
        os._exit(ABSENT if isinstance(error, FileNotFoundError) else CANNOT)


def _wait(child: int, ended: int) -> int:
    """Wait for the child, or for the end of standard input."""
    while True:
        ready, _, _ = select.select([0, ended], [], [])
        if 0 in ready and not os.read(0, 4096):
            return 128 + signal.SIGKILL
        if ended in ready:
            os.read(ended, 4096)
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _kill_all(child: int) -> None:
    """Kill the session of the child, and whoever became ours because his parent died."""
    for _ in range(MOST_ROUNDS):
        _kill_group(child)
        for pid in _children():
            _kill_group(pid)
            _kill(pid)
        # Never waited for without end: who becomes ours now was not killed in this round.
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(ROUND_SECONDS)
        except ChildProcessError:
            return


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        return


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return


def _children() -> list[int]:
    me = os.getpid()
    try:
        with open(f"/proc/{me}/task/{me}/children") as file:
            return [int(each) for each in file.read().split()]
    except (OSError, ValueError):
        return []


def _remove(folder: str) -> None:
    for parent, folders, files in os.walk(folder, topdown=False):
        for name in (*files, *folders):
            _remove_one(os.path.join(parent, name))
    _remove_one(folder)


def _remove_one(path: str) -> None:
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        else:
            os.unlink(path)
    except OSError:
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
