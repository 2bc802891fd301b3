"""etcd WAL: a store that outlives its process: no acknowledged write is lost or undone.

    write ─► head, staged ─► one commit at a time, in a thread ─► followers told ─► answers leave

A write changes the tables at once, so that the next writer validates against it, and is staged.
Whatever was staged while the previous commit ran is the next commit; no timer delays it. Only the
event loop cuts a commit off, between two of its turns: what one request does without awaiting
(an object, and what follows from it) is in one transaction.

Readers see the head as writers do, and it is their answers that wait (`safe`) until the last
commit they can have seen is done. The other way is a second copy of every table, lagging behind,
for readers. That costs memory and makes a second truth, and an error (409: it exists) would still
tell of the head. Here a reader beside a busy writer waits for two commits at most.

A commit that fails ends it all: what waits is refused, nothing is told, and `open_durable_store`
raises.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

from quintant.cluster.apiserver.storage.history import Change, StoredEntry
from quintant.cluster.apiserver.storage.revision_log import (
    NotDurable,
    RevisionStore,
    Snapshot,
    Table,
)
from quintant.cluster.apiserver.storage.sqlite import CommitFailed, Database, SyncMode, Transaction
from quintant.core.errors import leaf_errors


@asynccontextmanager
async def open_durable_store(
    folder: Path, sync: SyncMode = SyncMode.NORMAL
) -> AsyncIterator[DurableStore]:
    """The store kept in a folder, as the last process left it, for as long as the context lasts.

    ConfigError if the folder cannot be used or another server has it. If a commit fails, the body
    is cancelled and Broken raised: the process should end. Leaving writes what is still staged.
    """
    database = Database.open(folder, sync)
    try:
        store = DurableStore(database)
        async with asyncio.TaskGroup() as group:
            group.create_task(store.write())
            try:
                yield store
            finally:
                store.close()
    except BaseExceptionGroup as errors:
        raise _foremost(errors) from errors
    finally:
        database.close()


class _Batch:
    """Writes on their way to the disk, and what happens when they are there."""

    def __init__(self) -> None:
        self.rows: dict[str, StoredEntry | None] = {}
        self.clear = False
        self.acts: list[Callable[[], None]] = []
        self.over = asyncio.Event()

    @property
    def empty(self) -> bool:
        return not (self.rows or self.clear)


class DurableStore(RevisionStore):
    """A store whose writes become safe a moment later; `write` must run beside it."""

    def __init__(self, database: Database) -> None:
        """Load the last state; history is gone, so older revisions can only be listed anew."""
        super().__init__()
        self.database = database
        self._staged = _Batch()
        self._writing: _Batch | None = None
        self._pending = asyncio.Event()
        self._closing = self._failed = False
        super().restore(_loaded(database))
        self._visible = self.revision

    @property
    def visible(self) -> int:
        return self._visible

    def when_durable(self, act: Callable[[], None]) -> None:
        batch = self._last()
        if batch is None:
            act()
        else:
            batch.acts.append(act)

    async def durable(self) -> None:
        batch = self._last()
        if batch is not None:
            await batch.over.wait()
        if self._failed:
            raise NotDurable

    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        self._staged.clear = True
        self._staged.rows = {
            _key(table, key): entry
            for table in self._tables.values()
            for key, entry in table.entries.items()
        }
        self._pending.set()

    async def write(self) -> None:
        """Commit what is staged, again and again, until closed; Broken when a commit fails."""
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, "quintant-store") as thread:
            while await self._more():
                batch, commit = self._take()
                try:
                    await loop.run_in_executor(thread, self.database.commit, commit)
                except BaseException:
                    self._fail(batch)
                    raise
                self._publish(batch, commit.revision)

    def close(self) -> None:
        """Have `write` end after what is staged."""
        self._closing = True
        self._pending.set()

    def _record(
        self, table: Table, key: str, prev: StoredEntry | None, cur: StoredEntry | None
    ) -> Change:
        self._staged.rows[_key(table, key)] = cur
        self._pending.set()
        return super()._record(table, key, prev, cur)

    def _last(self) -> _Batch | None:
        """The batch of the last write, unless all is safe."""
        return self._writing if self._staged.empty else self._staged

    async def _more(self) -> bool:
        while self._staged.empty and not self._closing:
            self._pending.clear()
            await self._pending.wait()
        return not self._staged.empty

    def _take(self) -> tuple[_Batch, Transaction]:
        batch, self._staged = self._staged, _Batch()
        self._writing = batch
        return batch, Transaction(self.revision, batch.rows, batch.clear)

    def _publish(self, batch: _Batch, revision: int) -> None:
        self._writing = None
        self._visible = revision
        for act in batch.acts:
            act()
        batch.over.set()

    def _fail(self, batch: _Batch) -> None:
        self._failed = True
        batch.over.set()
        self._staged.over.set()


def _loaded(database: Database) -> Snapshot:
    tables: dict[str, Table] = {}
    for path, entry in database.rows():
        name, _, key = path.partition("/")
        table = tables.setdefault(name, Table(name))
        table.entries[key] = entry
        table.keys.append(key)
    return Snapshot(database.revision, tables)


def _key(table: Table, key: str) -> str:
    return f"{table.name}/{key}"


def _foremost(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The failed commit, if there was one: everything else follows from it."""
    found = leaf_errors(errors)
    return next((error for error in found if isinstance(error, CommitFailed)), found[0])
