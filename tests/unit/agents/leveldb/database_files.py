"""Databases in LevelDB's format, written for tests: tables, packed blocks, logs, manifests."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from quintant.agents.leveldb.crc32c import crc32c, masked
from quintant.agents.leveldb.log_file import encode_record
from quintant.agents.leveldb.manifest import encode_manifest_edit
from quintant.agents.leveldb.table_file import MAGIC
from quintant.agents.leveldb.varints import written_bytes
from quintant.agents.leveldb.write_batch import encode_batch
from quintant.wire.protobuf import varint

RESTART_INTERVAL = 4
BLOCK_ENTRIES = 8

Change = tuple[bytes, int, bytes | None]
"""A key, its sequence number, and what it became."""


def internal(key: bytes, sequence: int, stored: bool = True) -> bytes:
    return key + struct.pack("<Q", sequence << 8 | int(stored))


def block(entries: Sequence[tuple[bytes, bytes]]) -> bytes:
    """A block with keys that share what they begin with."""
    data, restarts, before = bytearray(), [], b""
    for number, (key, value) in enumerate(entries):
        shared = 0
        if number % RESTART_INTERVAL:
            while shared < min(len(before), len(key)) and before[shared] == key[shared]:
                shared += 1
        else:
            restarts.append(len(data))
        data += varint(shared) + varint(len(key) - shared) + varint(len(value))
        data += key[shared:] + value
        before = key
    restarts = restarts or [0]
    return bytes(data) + b"".join(struct.pack("<I", each) for each in (*restarts, len(restarts)))


def snappy(data: bytes) -> bytes:
    """Packed: literals, and a copy of each kind where something repeats."""
    packed, at = bytearray(varint(len(data))), 0
    while at < len(data):
        found = data.rfind(data[at : at + 8], 0, at) if at + 8 <= len(data) else -1
        if found >= 0:
            offset = at - found
            if offset < 2048:
                packed += bytes([1 | (8 - 4) << 2 | offset >> 8 << 5, offset & 0xFF])
            else:
                packed += bytes([2 | (8 - 1) << 2]) + struct.pack("<H", offset)
            at += 8
            continue
        piece = data[at : at + 1]
        packed += bytes([0]) + piece
        at += 1
    return bytes(packed)


def table(changes: Sequence[Change], *, packed: bool = False) -> bytes:
    """A table of changes."""
    ordered = sorted(changes, key=lambda each: (each[0], -each[1]))
    entries = [(internal(key, at, value is not None), value or b"") for key, at, value in ordered]
    written, index = bytearray(), []

    def put(body: bytes) -> bytes:
        kind = 1 if packed else 0
        stored = snappy(body) if packed else body
        handle = varint(len(written)) + varint(len(stored))
        checked = stored + bytes([kind])
        written.extend(checked + struct.pack("<I", masked(crc32c(checked))))
        return handle

    for at in range(0, len(entries), BLOCK_ENTRIES):
        piece = entries[at : at + BLOCK_ENTRIES]
        index.append((piece[-1][0], put(block(piece))))
    meta, found = put(block([])), put(block(index))
    return bytes(written) + (meta + found).ljust(40, b"\0") + struct.pack("<Q", MAGIC)


@dataclass
class DatabaseFiles:
    """A folder that becomes a database."""

    folder: Path
    edits: list[bytes] = field(default_factory=list)
    log_number: int = 0
    next_number: int = 10

    def add_table(self, changes: Sequence[Change], *, level: int = 0, packed: bool = False) -> Path:
        """A table that counts."""
        number, self.next_number = self.next_number, self.next_number + 1
        data = table(changes, packed=packed)
        ordered = sorted(changes, key=lambda each: (each[0], -each[1]))
        first, last = (internal(each[0], each[1]) for each in (ordered[0], ordered[-1]))
        head = varint(7) + varint(level) + varint(number) + varint(len(data))
        self.edits.append(head + written_bytes(first) + written_bytes(last))
        path = self.folder / f"{number:06}.ldb"
        path.write_bytes(data)
        return path

    def add_log(self, batches: Sequence[Mapping[bytes, bytes | None]], sequence: int) -> Path:
        """A log that counts; the first one that was added and all after it do."""
        number, self.next_number = self.next_number, self.next_number + 1
        self.log_number = self.log_number or number
        written = b""
        for batch in batches:
            written += encode_record(encode_batch(sequence, list(batch.items())), len(written))
            sequence += len(batch)
        path = self.folder / f"{number:06}.log"
        path.write_bytes(written)
        return path

    def finish(self) -> Path:
        """Write the manifest."""
        first = encode_manifest_edit(self.log_number, self.next_number + 1, 1)
        written = b""
        for edit in (first, *self.edits):
            written += encode_record(edit, len(written))
        (self.folder / "MANIFEST-000002").write_bytes(written)
        (self.folder / "CURRENT").write_text("MANIFEST-000002\n")
        return self.folder
