"""Snapshots of a user, as etcd has files of them: they outlive clusters and the next start.

    $XDG_DATA_HOME/quintant/snapshots/NAME.snapshot

They hold every Secret of their cluster, so only their owner may read them. A file is written beside
its name and then moved there: whoever is killed meanwhile leaves what was there before.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from quintant.cluster.apiserver.meta.names import dns1123_label_errors
from quintant.cluster.apiserver.storage.revision_log import Snapshot
from quintant.cluster.apiserver.storage.snapshot_file import (
    MOST_BYTES,
    SnapshotInfo,
    UnusableSnapshot,
    read_info,
)
from quintant.cluster.instance.snapshots import read_snapshot
from quintant.core.errors import ConfigError
from quintant.keys.private_files import write_private

SUFFIX = ".snapshot"
INFO_BYTES = 4096
"""Of the first line of a file: ten times what it has."""


class SavedSnapshot(Struct, frozen=True):
    """A file, and what it says of itself, or why it is of no use."""

    name: str
    path: Path
    info: SnapshotInfo | None
    complaint: str = ""


class SnapshotFiles:
    """The named snapshots of a user."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        home = Path(environ.get("HOME") or Path.home())
        data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
        self.folder: Path = data / "quintant" / "snapshots"

    def path_of(self, name: str) -> Path:
        """The file of a name; ConfigError for what is no name."""
        if dns1123_label_errors(name):
            raise ConfigError(
                f"{name!r} is no name for a snapshot",
                because="a name has small letters, digits and dashes, at most 63",
                hint="try one as before-upgrade",
            )
        return self.folder / f"{name}{SUFFIX}"

    def check_free(self, name: str) -> None:
        """ConfigError if there is a snapshot of a name."""
        path = self.path_of(name)
        if path.exists():
            raise _taken(name, path)

    def write(self, name: str, raw: bytes, *, replace: bool = False) -> Path:
        """Keep a snapshot; ConfigError if it cannot be kept.

        One of that name is replaced, or else refused, also if it was made a moment ago.
        """
        path = self.path_of(name)
        try:
            write_private(path, raw, replace=replace)
        except FileExistsError:
            raise _taken(name, path) from None
        except OSError as error:
            raise ConfigError(
                f"cannot keep the snapshot {name!r}",
                because=str(error),
                hint="free space, or set XDG_DATA_HOME to another folder",
            ) from error
        return path

    def read(self, name: str) -> bytes:
        """The bytes of a snapshot; ConfigError if there is none."""
        path = self.path_of(name)
        if path.exists():
            return read_snapshot_file(path)
        names = ", ".join(each.name for each in self.list())
        raise ConfigError(
            f"there is no snapshot {name!r}",
            because=f"these are known: {names}" if names else "none was taken",
            hint="quintant snapshots",
        )

    def list(self) -> list[SavedSnapshot]:
        """Every file there is, in the order of names, with what its first line says."""
        if not self.folder.is_dir():
            return []
        paths = sorted(self.folder.glob(f"[!.]*{SUFFIX}"))
        return [_saved(path) for path in paths]


def read_snapshot_file(path: Path) -> bytes:
    """The bytes of a file; ConfigError if it cannot be read, or is too large to be a snapshot."""
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(
            f"cannot read {path}", because=error.strerror or str(error), hint="quintant snapshots"
        ) from error


def load_snapshot(path: Path) -> Snapshot:
    """The objects in a file; ConfigError if a cluster could not begin with them."""
    try:
        return read_snapshot(read_snapshot_file(path))[1]
    except UnusableSnapshot as error:
        raise ConfigError(
            f"cannot begin with {path}", because=str(error), hint="quintant snapshots"
        ) from None


def _taken(name: str, path: Path) -> ConfigError:
    return ConfigError(
        f"there is a snapshot {name!r} already",
        because=f"it is {path}",
        hint="choose another name, or --replace",
    )


def _saved(path: Path) -> SavedSnapshot:
    name = path.name.removesuffix(SUFFIX)
    try:
        with path.open("rb") as file:
            return SavedSnapshot(name, path, read_info(file.readline(INFO_BYTES)))
    except (OSError, UnusableSnapshot) as error:
        return SavedSnapshot(name, path, None, str(error))
