"""An image as a file, as `docker save` writes it: its configuration, and what each layer has."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

_WHITEOUT = ".wh."
"""Before the name of what a layer removes from those below it."""
_OPAQUE = ".wh..wh..opq"
"""In a folder of which nothing is left of those below."""


@dataclass(frozen=True)
class Entry:
    """A file or folder of a layer."""

    mode: int
    uid: int
    gid: int
    kind: str
    """file, folder, link or device."""
    size: int = 0


@dataclass(frozen=True)
class Layer:
    """What one step added."""

    digest: str
    size: int
    entries: Mapping[str, Entry]


@dataclass(frozen=True)
class Image:
    """Everything that is known of an image without running it."""

    config: Mapping[str, Any]
    layers: tuple[Layer, ...]

    @property
    def size(self) -> int:
        """Bytes of all layers, uncompressed: what it takes on a node."""
        return sum(layer.size for layer in self.layers)

    def root(self) -> dict[str, Entry]:
        """What a container sees: the layers, one over another."""
        entries: dict[str, Entry] = {}
        for layer in self.layers:
            marks = [PurePosixPath(each) for each in layer.entries if _is_whiteout(each)]
            emptied = {str(each.parent) for each in marks if each.name == _OPAQUE}
            removed = {str(each.with_name(each.name.removeprefix(_WHITEOUT))) for each in marks}
            entries = {
                path: entry
                for path, entry in entries.items()
                if path not in removed and not _above(path) & (removed | emptied)
            }
            entries |= {p: each for p, each in layer.entries.items() if not _is_whiteout(p)}
        return entries


def read_image(archive: Path) -> Image:
    """The image of an archive that has one."""
    with tarfile.open(archive) as tar:
        (manifest,) = json.loads(_content(tar, "manifest.json"))
        config = json.loads(_content(tar, manifest["Config"]))
        digests = config["rootfs"]["diff_ids"]
        pairs = zip(digests, manifest["Layers"], strict=True)
        return Image(config, tuple(_layer(tar, digest, name) for digest, name in pairs))


def _layer(tar: tarfile.TarFile, digest: str, name: str) -> Layer:
    member = tar.getmember(name)
    file = tar.extractfile(member)
    assert file is not None
    with tarfile.open(fileobj=file) as inner:
        entries = {_path(each): _entry(each) for each in inner}
    return Layer(digest, member.size, entries)


def _path(member: tarfile.TarInfo) -> str:
    return str(PurePosixPath("/") / member.name)


def _entry(member: tarfile.TarInfo) -> Entry:
    # A hard link has the mode of the file that it is.
    kind = (
        "folder" if member.isdir() else "link" if member.issym()
        else "file" if member.isreg() or member.islnk() else "device"
    )  # fmt: skip
    return Entry(member.mode, member.uid, member.gid, kind, member.size)


def _content(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    assert file is not None
    return file.read()


def _is_whiteout(path: str) -> bool:
    return PurePosixPath(path).name.startswith(_WHITEOUT)


def _above(path: str) -> set[str]:
    return {str(each) for each in PurePosixPath(path).parents}
