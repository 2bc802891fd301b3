"""Where a program finds what would be mounted in a container: below a root of its own.

Without containers nothing can be mounted at `/etc/app`. Each container has a root folder instead,
in which a volume appears at its mount path: `$QUINTANT_ROOT/etc/app`. Wherever a mount path stands
in the command line or in the value of a variable, it is replaced by the folder that appears there;
and `0.0.0.0`, every address of the container, by the pod's own address. Files are left as they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from errno import EPERM
from pathlib import Path

from msgspec import Struct

from quintant.agents.embedded_node import is_inside

ROOT = "QUINTANT_ROOT"
"""The variable with the container's root folder."""
VOLUMES = "QUINTANT_VOLUMES"
"""The variable with the folders of the volumes that it mounts, a list in JSON."""
ADDRESS = "QUINTANT_POD_IP"
"""The variable with the pod's address: what to listen on."""

# A path stands for itself unless it goes on before or after: as /data does not in $HOME/data,
# http://host/data, /data2 or ../data.
_BEFORE, _AFTER = r"(?<![\w./})~-])", r"(?![\w.-])"
_EVERYWHERE = r"(?<![\d.])0\.0\.0\.0(?![\d.])"
_REST = re.compile(r"[^\s:;,='\"]*")
"""What follows a mount path and still is of the same path."""

Keep = Callable[[str], bool]
"""Whether a path is meant as it stands, though it is below a mount path."""


class PathRewriter(Struct, frozen=True):
    """Turns paths and addresses of a container into those of this machine."""

    root: Path
    mounts: tuple[str, ...]
    """Mount paths, the longest first."""
    address: str
    pattern: re.Pattern[str]
    """Everything that is replaced: what takes its place is not looked at again."""

    @classmethod
    def of(cls, root: Path, mounts: Iterable[str], address: str) -> PathRewriter:
        """For the mount paths of a container."""
        ordered = tuple(sorted((_plain(each) for each in mounts), key=len)[::-1])
        paths = "|".join(map(re.escape, ordered))
        wanted = [_EVERYWHERE, *([f"{_BEFORE}(?:{paths}){_AFTER}"] if ordered else [])]
        return cls(root, ordered, address, re.compile("|".join(wanted)))

    def text(self, text: str, keep: Keep = lambda path: False) -> str:
        """A word of a command line, or a value."""

        def replacement(match: re.Match[str]) -> str:
            if not match[0].startswith("/"):
                return self.address
            rest = _REST.match(text, match.end())
            if keep(match[0] + (rest[0] if rest else "")):
                return match[0]
            return str(folder_at(path_in_root(self.root, match[0])))

        return self.pattern.sub(replacement, text)

    def words(self, words: Sequence[str], keep: Keep = lambda path: False) -> tuple[str, ...]:
        return tuple(self.text(word, keep) for word in words)

    def values(self, values: Mapping[str, str]) -> dict[str, str]:
        return {name: self.text(value) for name, value in values.items()}


def path_in_root(root: Path, path: str) -> Path:
    """Where a path of the container is."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return root.joinpath(*parts)


def require_inside(path: Path, own: Sequence[Path]) -> Path:
    """The path, if it is in a container's own folders by whatever links are there; else OSError."""
    if not is_inside(path, own):
        raise PermissionError(EPERM, "it leads out of the pod by a link", path.name)
    return path


def folder_at(folder: Path) -> Path:
    """The folder that appears at a place: who walks through folders does not follow links."""
    if not folder.is_symlink():
        return folder
    target = Path(os.readlink(folder))
    # What a link in a projected volume leads to is gone with the next change.
    return target if target.is_dir() and not target.is_symlink() else folder


def _plain(mount: str) -> str:
    return "/" + mount.strip("/")
