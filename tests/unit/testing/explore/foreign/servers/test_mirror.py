"""What another server holds is kept with the revisions that it gave."""

from __future__ import annotations

from collections.abc import AsyncIterator

from quintant.cluster.apiserver.storage.history import Change, StoredEntry
from quintant.cluster.apiserver.storage.revision_log import Table
from quintant.testing.explore.foreign.servers.mirror import MirrorStore, whole_lines


def entry(text: str) -> StoredEntry:
    return StoredEntry(text.encode(), 0, {}, {})


async def test_entries_have_the_revisions_of_their_server_in_whatever_order_they_come() -> None:
    store = MirrorStore()
    told: list[tuple[str, int]] = []

    def hear(table: Table, change: Change) -> None:
        told.append((change.key, change.rv))

    store.subscribe(hear)
    pods, services = store.table("pods"), store.table("services")
    store.put_at(pods, "default/a", entry("a"), 90)
    store.put_at(services, "default/s", entry("s"), 70)
    store.delete_at(pods, "default/a", 95)
    assert told == [("default/a", 90), ("default/s", 70), ("default/a", 95)]
    assert services.entries["default/s"].rv == 70
    assert (store.revision, list(pods.entries)) == (95, [])


async def test_a_stream_that_is_cut_anywhere_comes_in_lines() -> None:
    async def cut() -> AsyncIterator[bytes]:
        for piece in (b"on", b"e\ntwo\nth", b"", b"ree\n", b"half"):
            yield piece

    assert [line async for line in whole_lines(cut())] == [b"one\n", b"two\n", b"three\n"]
