"""The small files of ours beside the blocks: a few lines, and a checksum as the last one.

Files that were written before there were checksums are read as well.
"""

from __future__ import annotations

from zlib import crc32

from quintant.agents.lightpeer.disk.folder import Disk

_MARK = b"#"
"""How the line of the checksum begins; no id does."""


def small_file(name: str, text: str) -> tuple[str, bytes]:
    """A file with lines."""
    raw = text.encode()
    return name, raw + _seal(raw)


def read_small(disk: Disk, name: str) -> tuple[str, bool]:
    """The lines of a file, and whether they are what was written; none if it is not there."""
    try:
        raw = disk.read(name)
    except OSError:
        return "", True
    position = raw.rfind(_MARK)
    if position < 0:
        return raw.decode(errors="replace"), True
    return raw[:position].decode(errors="replace"), raw[position:] == _seal(raw[:position])


def _seal(raw: bytes) -> bytes:
    return b"%b%08x\n" % (_MARK, crc32(raw))
