"""etcd maintenanceServer.Snapshot: a store at one revision as bytes, with a format and a checksum.

    {"kind":"ClusterSnapshot","format":1,"revision":42,"objects":1,...}    what it is
    ["pods","default/a",40,"eyJ...",{"app":"a"},{}]                        a line per object
    {"sha256":"2c26..."}                                                   of all lines before

Lines, so that each is read within limits; the checksum last, so that a file which was cut off has
none. Whatever is wrong is found before a single object is believed.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver.storage.history import History, StoredEntry
from quintant.cluster.apiserver.storage.revision_log import Snapshot, Table
from quintant.wire.foreign import MalformedInput, decode_json

KIND = "ClusterSnapshot"
FORMAT = 1
"""What this version writes and reads."""
MOST_BYTES = 256 * 1024 * 1024
"""Of a snapshot: as much as a client takes in one answer."""
LINE_BYTES = 4 * 1024 * 1024
"""Of one line: the largest object that is stored, in base64, and what selects it."""


class UnusableSnapshot(ValueError):
    """These bytes are not restored; the text says why, and quotes none of them."""


class SnapshotInfo(Struct, frozen=True):
    """What a snapshot says of itself."""

    kind: str
    format: int
    revision: int
    objects: int
    cluster: str = ""
    """The name of the cluster that it is of, if that has one."""
    created: str = ""
    """When it was taken, in RFC 3339."""
    kubernetes: str = ""
    """The version that the cluster spoke."""


class _Checksum(Struct, frozen=True):
    sha256: str


_Row = tuple[str, str, int, bytes, dict[str, str], dict[str, str]]
"""Table, key, revision, the object's bytes, its labels, its fields that selectors read."""
_encode = msgspec.json.Encoder().encode


def encode_snapshot(
    snapshot: Snapshot, *, cluster: str = "", created: str = "", kubernetes: str = ""
) -> bytes:
    """A snapshot as bytes."""
    count = sum(len(table.entries) for table in snapshot.tables.values())
    info = SnapshotInfo(KIND, FORMAT, snapshot.revision, count, cluster, created, kubernetes)
    body = b"".join(b"%b\n" % line for line in (_encode(info), *_lines(snapshot)))
    return b"%b%b\n" % (body, _encode(_Checksum(sha256(body).hexdigest())))


def decode_snapshot(raw: bytes) -> tuple[SnapshotInfo, Snapshot]:
    """What bytes are a snapshot of; UnusableSnapshot if they are none, or not whole."""
    info = read_info(raw[: raw.find(b"\n") + 1])
    body = _verified(raw)
    tables: dict[str, Table] = {}
    for name, key, rv, content, labels, fields in _rows(body):
        if rv > info.revision:
            raise UnusableSnapshot("an object is newer than the snapshot")
        table = tables.setdefault(name, Table(name, history=History(info.revision)))
        table.entries[key] = StoredEntry(content, rv, labels, fields)
    if sum(len(table.entries) for table in tables.values()) != info.objects:
        raise UnusableSnapshot("it has another number of objects than it says")
    for table in tables.values():
        table.keys.extend(sorted(table.entries))
    return info, Snapshot(info.revision, tables)


def read_info(line: bytes) -> SnapshotInfo:
    """What the first line of a file says; UnusableSnapshot unless this version reads the rest."""
    try:
        info = decode_json(line, SnapshotInfo)
    except MalformedInput:
        info = None
    if info is None or info.kind != KIND:
        raise UnusableSnapshot("it is no snapshot of a cluster")
    if info.format != FORMAT:
        raise UnusableSnapshot(
            f"it is of format {info.format}, and this version reads format {FORMAT}"
        )
    return info


def _lines(snapshot: Snapshot) -> Iterator[bytes]:
    for name, table in sorted(snapshot.tables.items()):
        for key in table.keys:
            entry = table.entries[key]
            row = name, key, entry.rv, entry.raw, entry.labels, entry.field_values
            yield _encode(row)


def _verified(raw: bytes) -> bytes:
    """All lines but the last, which has their checksum."""
    if len(raw) > MOST_BYTES:
        raise UnusableSnapshot(f"it has more than {MOST_BYTES} bytes")
    end = raw.rfind(b"\n", 0, -1) + 1
    body, last = raw[:end], raw[end:]
    try:
        checksum = decode_json(last, _Checksum).sha256
    except MalformedInput:
        raise UnusableSnapshot("it is damaged: its end is missing") from None
    if checksum != sha256(body).hexdigest():
        raise UnusableSnapshot("it is damaged: its checksum is another")
    return body


def _rows(body: bytes) -> Iterator[_Row]:
    try:
        for line in body.splitlines()[1:]:
            row: _Row = decode_json(line, _Row, most=LINE_BYTES)
            yield row
    except MalformedInput as error:
        raise UnusableSnapshot(f"a line is no object of a snapshot: {error}") from None
