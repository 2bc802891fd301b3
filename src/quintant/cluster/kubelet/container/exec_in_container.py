"""ExecInContainer: a command of a client beside a container, in the pod's view of paths.

What may be run is what the image table has, as for containers, probes and hooks. Unlike theirs, the
words of such a command are not the pod's: one that is a path means a file of the pod, in a volume
that it mounts or in its root, and never one elsewhere. What a shell makes of its script is the
table's matter, which allows the shell.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from quintant.cluster.kubelet.container.command import (
    TERM,
    ContainerRuntimeConfig,
    command_beside,
)
from quintant.cluster.kubelet.node_context import NodeContext
from quintant.cluster.kubelet.process.protocols import Launch, StartError
from quintant.cluster.kubelet.volume.rootfs import path_in_root, require_inside

SHELLS = frozenset({"sh", "ash", "bash", "dash", "ksh", "zsh"})
"""Programs whose word after `-c` is a script, though it may begin like a path."""
COPIES = ("tar", "cf", "-")
"""How `kubectl cp` begins the command that reads a path of a container."""
_PATH = re.compile(r"(?s)(-\w|[\w-]*=)?(/.*)")
"""A word that is a path, or the value of an option or a variable that is one."""
_DEVICE = re.compile(r"/dev/(null|zero|full|u?random|std(in|out|err)|tty|fd/\d+)")
"""Devices that every container has."""


def session_command(
    node: NodeContext,
    config: ContainerRuntimeConfig,
    command: Sequence[str],
    hostname: str,
    *,
    tty: bool,
) -> Launch:
    """How a client's command is run; StartError if it is not allowed, or not there."""
    cwd = path_in_root(config.root, config.container.working_dir)
    try:
        require_inside(cwd, config.own_folders)
        words = tuple(_words(config, command, cwd))
    except OSError as error:
        raise StartError(f"{error.filename}: {error.strerror}") from error
    launch = command_beside(node, config, command, words, hostname, cwd)
    if tty and "TERM" not in launch.env:
        return Launch(launch.argv, launch.cwd, {**launch.env, "TERM": TERM})
    return launch


def _words(config: ContainerRuntimeConfig, command: Sequence[str], cwd: Path) -> Iterator[str]:
    """The words of a command as they are on this machine; OSError if one leads out of the pod."""
    if tuple(command[:-1]) == COPIES and command[-1].startswith("/"):
        yield from (*COPIES, "-C", str(config.root), _member(config, command[-1], cwd))
        return
    shell = PurePath(command[0]).name in SHELLS if command else False
    yield from config.rewriter.words(command[:1])
    for before, word in itertools.pairwise(command):
        script = shell and before.startswith("-") and before.endswith("c")
        yield config.rewriter.text(word) if script else _confined(config, word, cwd)


def _member(config: ContainerRuntimeConfig, path: str, cwd: Path) -> str:
    """What an archive is made of, relative to the root: clients know its members by that name."""
    _confined(config, path, cwd)
    name = posixpath.normpath("/" + path.lstrip("/")).lstrip("/") or "."
    found = config.root / name
    # A volume is a link in the root, and a folder to who is in the pod.
    return f"{name}/." if found.is_symlink() and found.is_dir() else name


def _confined(config: ContainerRuntimeConfig, word: str, cwd: Path) -> str:
    found = _PATH.fullmatch(word)
    if found is None:
        if ".." in word.split("/"):
            require_inside(cwd / word, config.own_folders)
        return config.rewriter.text(word)
    option, path = found[1] or "", found[2]
    if _DEVICE.fullmatch(path):
        return word
    # Above its root a container has the root again.
    plain = posixpath.normpath("/" + path.lstrip("/"))
    local = config.rewriter.text(plain)
    if local == plain:
        local = str(path_in_root(config.root, plain))
    require_inside(Path(local), config.own_folders)
    return f"{option}{local}{'/' if path.endswith('/') and plain != '/' else ''}"
