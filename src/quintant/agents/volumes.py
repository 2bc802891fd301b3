"""How full a volume is, for agents that tell: in a container, and on the embedded node.

In a container a volume is a file system, and knows. On the embedded node it is a folder of a disk
that is much larger; how large its claim is stands in a file that `QUINTANT_CLAIMS` names, which is
current also after the claim has grown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import NamedTuple

CLAIMS_VARIABLE = "QUINTANT_CLAIMS"
_BLOCK = 512
"""Bytes of a block in `st_blocks`, whatever the file system's own are."""


class VolumeUsage(NamedTuple):
    """Bytes of a volume."""

    used: int
    size: int


def volume_usage(path: str, environ: Mapping[str, str] = os.environ) -> VolumeUsage:
    """How full the volume is that a path is in; OSError if there is no such path.

    It blocks: on the embedded node every file of the volume is looked at.
    """
    claimed = _claim_of(os.path.realpath(path), environ.get(CLAIMS_VARIABLE, ""))
    if claimed is not None:
        folder, size = claimed
        return VolumeUsage(_folder_bytes(folder), size)
    found = os.statvfs(path)
    used, size = found.f_blocks - found.f_bfree, found.f_blocks
    return VolumeUsage(used * found.f_frsize, size * found.f_frsize)


def _claim_of(path: str, file: str) -> tuple[str, int] | None:
    """The folder and the size of the claim that a path is in, as the node tells it."""
    if not file:
        return None
    with open(file, encoding="utf-8") as stream:
        claims = json.load(stream)["claims"]
    around = [
        (folder, each["bytes"])
        for each in claims
        if os.path.commonpath((folder := os.path.realpath(each["path"]), path)) == folder
    ]
    return max(around, key=lambda each: len(each[0]), default=None)


def _folder_bytes(folder: str) -> int:
    """What the files of a folder take; one that goes meanwhile takes nothing."""
    total = 0
    for directory, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(directory, name)).st_blocks * _BLOCK
            except OSError:
                continue
    return total
