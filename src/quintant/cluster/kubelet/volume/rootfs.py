"""Where a program finds what would be mounted in a container: below a root of its own.

Without containers nothing can be mounted at `/etc/app`. Each container has a root folder instead,
in which a volume appears at its mount path: `$QUINTANT_ROOT/etc/app`. Wherever a mount path stands
in the command line or in the value of a variable, it is replaced by the path below the root; and
`0.0.0.0`, every address of the container, by the pod's own address. Files are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

ROOT = "QUINTANT_ROOT"
"""The variable with the container's root folder."""
ADDRESS = "QUINTANT_POD_IP"
"""The variable with the pod's address: what to listen on."""

# A path stands for itself unless it goes on before or after: as /data does not in $HOME/data,
# http://host/data, /data2 or ../data.
_BEFORE, _AFTER = r"(?<![\w./})~-])", r"(?![\w.-])"
_EVERYWHERE = r"(?<![\d.])0\.0\.0\.0(?![\d.])"


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

    def text(self, text: str) -> str:
        """A word of a command line, or a value."""
        return self.pattern.sub(self._replacement, text)

    def words(self, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(self.text, words))

    def values(self, values: Mapping[str, str]) -> dict[str, str]:
        return {name: self.text(value) for name, value in values.items()}

    def _replacement(self, found: re.Match[str]) -> str:
        path = found[0]
        return str(path_in_root(self.root, path)) if path.startswith("/") else self.address


def path_in_root(root: Path, path: str) -> Path:
    """Where a path of the container is."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return root.joinpath(*parts)


def _plain(mount: str) -> str:
    return "/" + mount.strip("/")
