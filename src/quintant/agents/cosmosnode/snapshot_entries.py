"""The entries of a snapshot: what of a tar is taken, and how it gets below a folder.

Only the folders that hold the data of a node are taken, at the root of the archive or below one
folder. Nothing is written through a link: every folder on the way is one. A link stays below its
own folder wherever that is moved to, whatever other links there are: it goes up, then only down.
Everything else is refused, and with it the archive.
"""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from quintant.agents.cosmosnode.last_words import NodeToolError

REFUSED = "cannot use the archive"
_UP, _HERE = "..", "."
_MODE, _EXECUTABLE = 0o644, 0o111
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


class RefusedEntry(NodeToolError):
    """An entry that no honest snapshot has."""

    def __init__(self, name: str, because: str) -> None:
        super().__init__(REFUSED, f"the entry {name[:200]!r} {because}")


class EntryPath(NamedTuple):
    """Where an entry goes."""

    root: tuple[str, ...]
    """The folder that is taken, below the archive's root or one folder."""
    inside: tuple[str, ...]
    """The rest of its way; empty for the folder itself."""

    @property
    def parts(self) -> tuple[str, ...]:
        return self.root + self.inside


def entry_path(name: str, taken: Collection[str]) -> EntryPath | None:
    """Where an entry of a name goes; None if it is not taken, RefusedEntry if it leads outside."""
    path = PurePosixPath(name)
    if path.is_absolute():
        raise RefusedEntry(name, "has an absolute path")
    if "\0" in name or _UP in path.parts:
        raise RefusedEntry(name, "would be outside of the folder")
    for depth in (1, 2):
        if path.parts[depth - 1 : depth] and path.parts[depth - 1] in taken:
            return EntryPath(path.parts[:depth], path.parts[depth:])
    return None


def check_link(name: str, path: EntryPath, target: str) -> None:
    """RefusedEntry if a symbolic link could lead out of the folder that it is taken with."""
    if target.startswith("/") or "\0" in target or not target:
        raise RefusedEntry(name, "is a link that leads out of the folder")
    steps = [step for step in target.split("/") if step not in ("", _HERE)]
    ups = next((at for at, step in enumerate(steps) if step != _UP), len(steps))
    # Up only from where it is, which is a folder: what is above another link is not known.
    if ups >= len(path.inside) or _UP in steps[ups:]:
        raise RefusedEntry(name, "is a link that leads out of the folder")


def extract_entry(
    tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path, taken: Collection[str]
) -> None:
    """Put an entry below a folder, if it is taken; RefusedEntry if it is made to harm."""
    if not (member.isfile() or member.isdir() or member.issym() or member.islnk()):
        raise RefusedEntry(member.name, "is neither a file, a folder nor a link")
    path = entry_path(member.name, taken)
    if path is None:
        return
    if not path.inside and not member.isdir():
        raise RefusedEntry(member.name, "is no folder")
    if member.issym():
        check_link(member.name, path, member.linkname)
    target = folder.joinpath(*path.parts)
    _make_folders(folder, path.parts if member.isdir() else path.parts[:-1], member.name)
    if member.isdir():
        return
    _make_room(target, member)
    if member.issym():
        target.symlink_to(member.linkname)
    elif member.islnk():
        os.link(_linked_file(member, folder, taken), target, follow_symlinks=False)
    else:
        _write(tar, member, target)


def _make_folders(folder: Path, parts: tuple[str, ...], name: str) -> None:
    """Make the folders on the way; RefusedEntry if one of them is a link, or a file."""
    here = folder
    for part in parts:
        here = here / part
        kind = _kind(here)
        if kind is None:
            here.mkdir()
        elif not stat.S_ISDIR(kind):
            raise RefusedEntry(name, "goes through what is no folder")


def _make_room(target: Path, member: tarfile.TarInfo) -> None:
    """A file may be there twice, and the last one counts; nothing else may."""
    kind = _kind(target)
    if kind is None:
        return
    if not stat.S_ISREG(kind) or not member.isfile():
        raise RefusedEntry(member.name, "takes the name of another entry")
    target.unlink()


def _linked_file(member: tarfile.TarInfo, folder: Path, taken: Collection[str]) -> Path:
    """The file that a hard link is another name of: one that was unpacked before."""
    path = entry_path(member.linkname, taken)
    if path is None or not path.inside:
        raise RefusedEntry(member.name, "is a link to what is not taken")
    here = folder
    for part in path.parts[:-1]:
        here = here / part
        if not stat.S_ISDIR(_kind(here) or 0):
            raise RefusedEntry(member.name, "is a link to what is not there")
    if not stat.S_ISREG(_kind(here / path.parts[-1]) or 0):
        raise RefusedEntry(member.name, "is a link to what is no file before it")
    return here / path.parts[-1]


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    content = tar.extractfile(member)
    assert content is not None, "a regular file has content"
    mode = _MODE | member.mode & _EXECUTABLE
    with content, os.fdopen(os.open(target, _NEW_FILE, mode), "wb") as made:
        shutil.copyfileobj(content, made)
    target.chmod(mode)


def _kind(path: Path) -> int | None:
    """The mode of what is at a path, links not followed; None if nothing is."""
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return None
