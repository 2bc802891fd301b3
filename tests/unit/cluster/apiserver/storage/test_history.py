from __future__ import annotations

import sys

import pytest

from quintant.cluster.apiserver.storage.history import (
    COMPRESSED_BYTES,
    KEEP_AT_LEAST,
    KEEP_SECONDS,
    Change,
    Compacted,
    History,
    StoredEntry,
)

ENTRY = StoredEntry(b"", 1, {}, {})


def change(rv: int, at: float = 0.0) -> Change:
    return Change(rv, "a", None, ENTRY, at)


def ring(*changes: Change) -> History:
    filled = History()
    for each in changes:
        filled.append(each)
    return filled


def test_changes_after_a_revision_are_replayed_in_order() -> None:
    filled = ring(change(2), change(5), change(9))
    assert [each.rv for each in filled.since(2)] == [5, 9]
    assert [each.rv for each in filled.since(4)] == [5, 9]
    assert filled.since(9) == []


def test_young_changes_stay() -> None:
    filled = ring(*(change(rv, at=0.0) for rv in range(1, 1000)))
    assert len(filled) == 999
    assert filled.floor == 0


def test_old_changes_of_a_busy_table_go() -> None:
    filled = ring(*(change(rv, at=float(rv)) for rv in range(1, 1001)))
    assert len(filled) == max(KEEP_AT_LEAST, KEEP_SECONDS + 1)
    with pytest.raises(Compacted) as gone:
        filled.since(1)
    assert gone.value.floor == filled.floor == 1000 - KEEP_AT_LEAST


def test_the_last_changes_of_a_quiet_table_stay_however_old() -> None:
    filled = ring(change(1, at=0.0), change(2, at=10_000.0))
    assert [each.rv for each in filled.since(0)] == [1, 2]


def test_compaction_forgets_up_to_a_revision() -> None:
    filled = ring(change(1), change(2), change(3))
    filled.compact(2)
    assert [each.rv for each in filled.since(2)] == [3]
    with pytest.raises(Compacted):
        filled.since(1)
    filled.compact(1)
    assert filled.floor == 2


def test_a_copy_goes_its_own_way() -> None:
    filled = ring(change(1))
    twin = filled.copy()
    filled.append(change(2))
    assert len(twin) == 1


def large(rv: int, text: bytes) -> StoredEntry:
    return StoredEntry(text * COMPRESSED_BYTES, rv, {"l": "v"}, {})


def test_compressed_history_replays_what_was_written() -> None:
    entries = [large(rv, b"x%d" % rv) for rv in (1, 2, 3)]
    changes = [
        Change(each.rv, "a", before, each, 0.0)
        for before, each in zip([None, *entries], entries, strict=False)
    ]
    filled = History(compressed=True)
    for each in changes:
        filled.append(each)
    assert filled.since(0) == changes
    assert filled.copy().since(1) == changes[1:]
    filled.compact(1)
    assert filled.since(1) == changes[1:]


def test_compressed_history_does_not_hold_large_entries_of_the_past() -> None:
    first, second = large(1, b"some text"), large(2, b"other text")
    filled = History(compressed=True)
    filled.append(Change(1, "a", None, first, 0.0))
    filled.append(Change(2, "a", first, second, 0.0))
    assert sys.getrefcount(first) < sys.getrefcount(second)
