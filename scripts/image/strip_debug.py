"""A step of the image's build: what debuggers read is cut off shared libraries of wheels.

    python strip_debug.py FOLDER

Some wheels ship libraries with debug sections, which are nine tenths of them. What a process
loads are the segments of the program header; debug sections, symbol names for linkers and the
table of sections follow after the last of them. So the file is cut there, and its header says that
there is no table of sections. No binutils are needed, which a slim base does not have.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from pathlib import Path

_MAGIC = b"\x7fELF"
_CLASS_64, _LITTLE_ENDIAN = 2, 1
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_LOAD = 1


def stripped(content: bytes) -> bytes:
    """A library without what follows its segments; unchanged where it is none that we know."""
    if len(content) < _HEADER.size or content[:4] != _MAGIC:
        return content
    if (content[4], content[5]) != (_CLASS_64, _LITTLE_ENDIAN):
        return content
    fields = list(_HEADER.unpack_from(content))
    segments = list(_segments(content, fields))
    if not any(kind == _LOAD for kind, _ in segments):
        return content
    table = fields[5] + fields[9] * fields[10]
    end = max(table, *(last for _, last in segments))
    if end > len(content):
        return content
    # e_shoff, e_shnum, e_shstrndx: there are no sections any more.
    fields[6] = fields[12] = fields[13] = 0
    return _HEADER.pack(*fields) + content[_HEADER.size : end]


def _segments(content: bytes, fields: list[int]) -> Iterator[tuple[int, int]]:
    """The kind of each segment, and where it ends in the file."""
    for number in range(fields[10]):
        at = fields[5] + number * fields[9]
        if at + _SEGMENT.size > len(content):
            return
        kind, _, offset, _, _, size, _, _ = _SEGMENT.unpack_from(content, at)
        yield kind, offset + size


def strip_folder(folder: Path) -> int:
    """Strip every library below a folder; how many bytes are gone."""
    gone = 0
    for path in sorted(folder.rglob("*.so*")):
        if path.is_symlink() or not path.is_file():
            continue
        before = path.read_bytes()
        after = stripped(before)
        if len(after) < len(before):
            path.write_bytes(after)
            gone += len(before) - len(after)
    return gone


if __name__ == "__main__":
    print(f"stripped {strip_folder(Path(sys.argv[1])) / 1e6:.1f} MB of debug sections")
