"""A snapshot as bytes: all of it comes back, or nothing does."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Snapshot
from quintant.cluster.apiserver.storage.snapshot_file import (
    LINE_BYTES,
    UnusableSnapshot,
    decode_snapshot,
    encode_snapshot,
)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)
LABELS = st.dictionaries(TEXTS, TEXTS, max_size=2)
ENTRIES = st.tuples(st.sampled_from(["pods", "foos.example.com"]), TEXTS, st.binary(), LABELS)


def taken(*entries: tuple[str, str, bytes, dict[str, str]]) -> Snapshot:
    store = RevisionStore(now=lambda: 0.0)
    for name, key, raw, labels in entries:
        store.put(store.table(name), key, StoredEntry(raw, 0, labels, {"spec.nodeName": key}))
    return store.snapshot()


def contents(snapshot: Snapshot) -> dict[str, dict[str, StoredEntry]]:
    return {name: dict(table.entries) for name, table in snapshot.tables.items()}


def signed(*lines: bytes) -> bytes:
    """Lines with a checksum that is right, whatever they say."""
    body = b"".join(b"%b\n" % line for line in lines)
    return b'%b{"sha256":"%b"}\n' % (body, sha256(body).hexdigest().encode())


SMALL = encode_snapshot(
    taken(("pods", "default/a", b'","name":"a"}}', {}), ("pods", "default/b", b"b", {"x": "y"}))
)
HEAD, ROW, OTHER, _ = SMALL.splitlines()


@given(st.lists(ENTRIES, max_size=10))
def test_what_was_written_is_what_is_read(
    entries: list[tuple[str, str, bytes, dict[str, str]]],
) -> None:
    snapshot = taken(*entries)
    info, read = decode_snapshot(encode_snapshot(snapshot, cluster="dev"))
    assert (info.cluster, info.revision, read.revision) == ("dev", *2 * (snapshot.revision,))
    assert contents(read) == contents(snapshot)
    assert all(table.keys == sorted(table.entries) for table in read.tables.values())


def test_a_file_that_was_cut_off_anywhere_is_refused() -> None:
    for length in range(len(SMALL) - 1):
        with pytest.raises(UnusableSnapshot):
            decode_snapshot(SMALL[:length])


@given(st.integers(0, len(SMALL) - 2), st.integers(1, 255))
def test_a_byte_that_is_another_is_found(at: int, change: int) -> None:
    other = bytes((SMALL[at] ^ change,))
    with pytest.raises(UnusableSnapshot):
        decode_snapshot(SMALL[:at] + other + SMALL[at + 1 :])


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "no snapshot of a cluster"),
        (b"SQLite format 3\0" * 100, "no snapshot of a cluster"),
        (b'{"kind":"Config","apiVersion":"v1"}\n', "no snapshot of a cluster"),
        (b"[" * 100_000, "no snapshot of a cluster"),
        (
            signed(HEAD.replace(b'"format":1', b'"format":2'), b"\xff"),
            "it is of format 2, and this version reads format 1",
        ),
        (signed(HEAD, ROW), "another number of objects"),
        (signed(HEAD, ROW, ROW), "another number of objects"),
        (signed(HEAD, ROW, b"[1,2]"), "no object of a snapshot"),
        (signed(HEAD, ROW, b'"' + b"x" * LINE_BYTES), "no object of a snapshot"),
        (signed(HEAD, ROW.replace(b",1,", b",9,"), OTHER), "newer than the snapshot"),
    ],
    ids=["empty", "sqlite", "kubeconfig", "deep", "newer", "few", "twice", "row", "long", "future"],
)
def test_what_is_no_snapshot_is_refused_with_why(raw: bytes, why: str) -> None:
    with pytest.raises(UnusableSnapshot, match=why):
        decode_snapshot(raw)
