"""The store against a model: a dictionary per revision."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.storage.history import Change, Compacted, StoredEntry
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Table

KEYS = st.sampled_from(["a/x", "a/y", "a-b/x", "b/x", "c"])
WRITES = st.lists(st.tuples(KEYS, st.none() | st.binary(max_size=3)), max_size=60)


def content(raw: bytes, **labels: str) -> StoredEntry:
    return StoredEntry(raw, 0, labels, {})


def store() -> RevisionStore:
    return RevisionStore(now=lambda: 0.0)


def write(target: RevisionStore, writes: list[tuple[str, bytes | None]]) -> list[dict[str, bytes]]:
    """Make the writes; the entries after each, beginning with none."""
    table = target.table("things")
    states: list[dict[str, bytes]] = [{}]
    for key, raw in writes:
        if raw is not None:
            target.put(table, key, content(raw))
        elif key in table.entries:
            target.delete(table, key)
        else:
            continue
        states.append({key: entry.raw for key, entry in table.entries.items()})
    return states


@given(WRITES)
def test_replaying_the_ring_gives_the_present(writes: list[tuple[str, bytes | None]]) -> None:
    filled = store()
    states = write(filled, writes)
    replayed: dict[str, bytes] = {}
    for change in filled.table("things").history.since(0):
        if change.cur is None:
            del replayed[change.key]
        else:
            replayed[change.key] = change.cur.raw
    assert replayed == states[-1]


@given(WRITES)
def test_every_past_revision_can_be_read(writes: list[tuple[str, bytes | None]]) -> None:
    filled = store()
    states = write(filled, writes)
    for revision, state in enumerate(states):
        view = filled.table("things").at(revision)
        assert {key: entry.raw for key, entry in view.entries.items()} == state
        assert [key for key, _ in view.scan()] == sorted(state)


@given(WRITES)
def test_a_prefix_scan_is_a_filtered_scan(writes: list[tuple[str, bytes | None]]) -> None:
    filled = store()
    state = write(filled, writes)[-1]
    view = filled.table("things").now
    for prefix in ("a/", "a-b/", "b/", "nowhere/"):
        assert [key for key, _ in view.scan(prefix)] == [
            k for k in sorted(state) if k[: len(prefix)] == prefix
        ]
        assert view.count(prefix) == len(view.scan(prefix))


def test_each_write_moves_the_global_revision_by_one() -> None:
    filled = store()
    first = filled.put(filled.table("one"), "a", content(b"1"))
    second = filled.put(filled.table("two"), "a", content(b"2"))
    assert (first.rv, second.rv, filled.revision) == (1, 2, 2)


def test_listeners_hear_every_change_with_what_was_before() -> None:
    filled, heard = store(), list[Change]()
    filled.subscribe(lambda table, change: heard.append(change))
    table = filled.table("one")
    first = filled.put(table, "a", content(b"1"))
    second = filled.put(table, "a", content(b"2"))
    filled.delete(table, "a")
    assert [(each.rv, each.prev, each.cur) for each in heard] == [
        (1, None, first),
        (2, first, second),
        (3, second, None),
    ]


def test_compaction_makes_the_past_unreadable() -> None:
    filled = store()
    table = filled.table("one")
    filled.put(table, "a", content(b"1"))
    filled.put(table, "a", content(b"2"))
    filled.compact()
    with pytest.raises(Compacted):
        table.at(1)
    assert table.at(2).entries["a"].raw == b"2"


def test_a_snapshot_is_not_moved_by_later_writes() -> None:
    filled = store()
    filled.put(filled.table("one"), "a", content(b"1"))
    saved = filled.snapshot()
    filled.put(filled.table("one"), "b", content(b"2"))
    filled.delete(filled.table("one"), "a")
    filled.restore(saved)
    assert list(filled.table("one").entries) == ["a"]
    filled.put(filled.table("one"), "c", content(b"3"))
    filled.restore(saved)
    assert list(filled.table("one").entries) == ["a"]


def test_after_a_restore_the_old_history_is_expired_not_silently_skipped() -> None:
    filled = store()
    saved = filled.snapshot()
    filled.put(filled.table("one"), "a", content(b"1"))
    seen = filled.revision
    filled.restore(saved)
    filled.put(filled.table("one"), "b", content(b"2"))
    assert filled.revision > seen
    with pytest.raises(Compacted):
        filled.table("one").history.since(seen)


def test_keys_are_ordered_as_paths_are() -> None:
    filled = store()
    table: Table = filled.table("things")
    for key in ("a/x", "a-b/x", "a/b"):
        filled.put(table, key, content(b""))
    assert table.keys == ["a-b/x", "a/b", "a/x"]


def test_what_was_loaded_was_always_there_and_later_writes_are_newer() -> None:
    target = store()
    table = target.table("things")
    before = target.revision
    heard: list[tuple[str, int]] = []
    target.subscribe(lambda _, change: heard.append((change.key, change.rv)))
    target.load(table, "b/x", StoredEntry(b"old", 700, {}, {}))
    target.load(table, "a/x", StoredEntry(b"older", 5, {}, {}))
    assert [key for key, _ in table.at(before).scan()] == ["a/x", "b/x"]
    assert table.history.since(before) == []
    assert heard == [("b/x", 700), ("a/x", 700)]
    assert target.put(table, "a/x", content(b"new")).rv == 701
