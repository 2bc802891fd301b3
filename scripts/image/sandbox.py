"""Running a program of the image as a node would: an ordinary user, a read-only root, no network.

Namespaces of its own (mounts, network, processes) that end with it. No engine is asked: inside of a
container none could start another. /proc and /dev are there, as in every pod; nothing else can be
written, /tmp included.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

_INSIDE = r"""
root=$1; who=$2; shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
ip link set lo up 2>/dev/null || true
exec chroot --userspec="$who" --groups="" "$root" /usr/bin/env -i "$@"
"""
LONGEST_SECONDS = 120
"""Of a program that neither ends nor says that it serves."""


@dataclass(frozen=True)
class ProgramOutput:
    """How a program ended, and what it output."""

    code: int
    text: str


@dataclass(frozen=True)
class Sandbox:
    """The root of an image, and the variables that it sets."""

    root: Path
    variables: Sequence[str]

    def run(self, who: str, words: Sequence[str], *, until: re.Pattern[str]) -> ProgramOutput:
        """Run a program until it ends, or has said what shows that it would go on."""
        line = [
            *("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"),
            *("sh", "-ec", _INSIDE, "sandbox", str(self.root), who),
            *(*self.variables, "HOME=/", "timeout", str(LONGEST_SECONDS), *words),
        ]
        with subprocess.Popen(
            line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace",
        ) as process:  # fmt: skip
            text = _read(process, until)
        return ProgramOutput(process.returncode, text)


def _read(process: subprocess.Popen[str], until: re.Pattern[str]) -> str:
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if until.search(text):
            _end(process.pid)
            break
    return text


def _end(pid: int) -> None:
    """End it with all that it started: who has become another user outlives its parent."""
    root = psutil.Process(pid)
    for each in (*root.children(recursive=True), root):
        with suppress(psutil.NoSuchProcess):
            each.kill()
