"""A program that is built from other text than was published, in a few places.

Some programs have no switch for what a test has to choose, such as the address that they listen on.
Their module is copied beside the build, and a few lines of the copy are replaced; what is not found
exactly once is an error, so that another version cannot be changed by mistake. (`go build -overlay`
refuses files of the module cache.)
"""

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from foreign.errors import ProgramError

_DIGITS = 8


class SourceChange(NamedTuple):
    """A text of one file, and what stands there instead."""

    file: str
    """Its path in the module."""
    old: str
    new: str


def changed_copy(source: Path, target: Path, changes: Iterable[SourceChange]) -> None:
    """Copy a module, and make the changes in the copy."""
    writable_copy(source, target)
    apply_changes(target, changes)


def apply_changes(copy: Path, changes: Iterable[SourceChange]) -> None:
    """Make changes in a copy of a module."""
    for change in changes:
        file = copy / change.file
        text = file.read_text() if file.is_file() else ""
        if text.count(change.old) != 1:
            raise ProgramError(
                f"cannot change {change.file}",
                why=f"it has {change.old!r} {text.count(change.old)} times, and not once",
                hint="make the change fit the version that is asked for",
            )
        file.write_text(text.replace(change.old, change.new))


def writable_copy(source: Path, target: Path) -> None:
    """Copy a module out of the cache of Go, which is read-only: its modes would come along."""
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    for folder, _, _ in os.walk(target):
        Path(folder).chmod(0o755)


def digest(changes: Iterable[SourceChange], main: str = "") -> str:
    """A few letters that differ where changes or main package do; none if there is neither."""
    text = "\0".join((*(part for change in changes for part in change), *filter(None, (main,))))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS] if text else ""
