"""A server whose store is kept: what is told is safe, what is safe comes back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from signal import SIGKILL
from threading import Event

import pytest

from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.durable import DurableStore, open_durable_store
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.sqlite import CommitFailed, Database, Transaction
from unit.cluster.api import CMS, CRDS, FOOS, Api, config_map, foo, foo_definition

NAMESPACES = "/api/v1/namespaces"
ROWS = 6_700
"""Objects of a cluster of a hundred nodes, about."""


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from quintant.cluster.apiserver.storage.durable import open_durable_store
from quintant.cluster.apiserver.storage.history import StoredEntry

async def main():
    async with open_durable_store(Path(sys.argv[1])) as store:
        things = store.table("things")
        for number in range(1000):
            store.put(things, str(number), StoredEntry(b"x" * 1000, 0, {}, {}))
        saved = store.snapshot()
        for key in [*things.keys]:
            store.delete(things, key)
        store.put(things, "after", StoredEntry(b"x", 0, {}, {}))
        await store.durable()
        store.restore(saved)
        die = lambda: os.kill(os.getpid(), signal.SIGKILL)
        store.database.connection.set_progress_handler(die, 10_000)
        await store.durable()

asyncio.run(main())
"""
"""A process that dies while the rows of a restore are being written."""


class Gated(Database):
    """A file whose commits wait for a gate, as they wait for a slow disk."""

    @classmethod
    def at(cls, folder: Path) -> Gated:
        opened = Database.open(folder)
        gated = cls(opened.path, opened.connection, opened.totals)
        gated.gate = Event()
        gated.sizes = []
        return gated

    gate: Event
    sizes: list[int]
    """How many rows each commit had."""

    def commit(self, commit: Transaction) -> None:
        self.gate.wait()
        super().commit(commit)
        self.sizes.append(len(commit.rows))


@asynccontextmanager
async def gated(folder: Path) -> AsyncIterator[tuple[Gated, ApiServer]]:
    """A server on a slow disk; all it wrote at start is safe, and the gate is closed again."""
    database = Gated.at(folder)
    store = DurableStore(database)
    async with asyncio.TaskGroup() as group:
        group.create_task(store.write())
        try:
            server = ApiServer(store=store)
            database.gate.set()
            await store.durable()
            database.gate.clear()
            database.sizes.clear()
            yield database, server
        finally:
            database.gate.set()
            store.close()
    database.close()


async def turns(count: int = 20) -> None:
    """Let the loop do everything that does not wait for the disk."""
    for _ in range(count):
        await asyncio.sleep(0)


async def test_objects_come_back_and_revisions_grow(tmp_path: Path) -> None:
    async with open_durable_store(tmp_path) as store:
        client = Api(ApiServer(store=store))
        made = await client.create(CMS, config_map("a", {"k": "v"}, labels={"app": "x"}))
        await client.create(CMS, config_map("b"))
        await client.delete(f"{CMS}/b")
    async with open_durable_store(tmp_path) as store:
        client = Api(ApiServer(store=store))
        assert await client.get(f"{CMS}/a") == made
        assert await client.names(CMS, labelSelector="app=x") == ["a"]
        listed = await client.get(CMS)
        assert int(listed["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])


async def test_a_place_from_before_a_restart_is_expired(tmp_path: Path) -> None:
    async with open_durable_store(tmp_path) as store:
        before = (await Api(ApiServer(store=store)).get(CMS))["metadata"]["resourceVersion"]
    async with open_durable_store(tmp_path) as store:
        client = Api(ApiServer(store=store))
        async with client.watch(CMS, resourceVersion=before) as events:
            assert (await events.next())["object"]["code"] == 410
        now = (await client.get(CMS))["metadata"]["resourceVersion"]
        async with client.watch(CMS, resourceVersion=now) as events:
            await client.create(CMS, config_map("a"))
            assert await events.told() == ("ADDED", "a")


async def test_custom_kinds_are_served_again(tmp_path: Path) -> None:
    async with open_durable_store(tmp_path) as store:
        client = Api(ApiServer(store=store))
        await client.create(CRDS, foo_definition())
        made = await client.create(FOOS, foo("a", {"size": 3}))
    async with open_durable_store(tmp_path) as store:
        client = Api(ApiServer(store=store))
        assert await client.get(f"{FOOS}/a") == made
        await client.create(FOOS, foo("b"))
        assert await client.names(FOOS) == ["a", "b"]


async def test_a_restored_snapshot_is_what_comes_back(tmp_path: Path) -> None:
    async with open_durable_store(tmp_path) as store:
        server = ApiServer(store=store)
        client = Api(server)
        await client.create(CMS, config_map("a"))
        then = server.snapshot()
        await client.create(CMS, config_map("b"))
        server.restore(then)
        await client.create(CMS, config_map("c"))
    async with open_durable_store(tmp_path) as store:
        assert await Api(ApiServer(store=store)).names(CMS) == ["a", "c"]


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The folder of a cluster whose process was killed in the middle of a restore."""
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert ended.returncode == -SIGKILL
    return tmp_path


async def test_a_kill_in_the_middle_of_a_restore_leaves_what_was_before(killed: Path) -> None:
    async with open_durable_store(killed) as store:
        assert [*store.table("things").entries] == ["after"]


async def test_no_answer_tells_of_what_a_crash_can_undo(tmp_path: Path) -> None:
    async with gated(tmp_path) as (database, server), asyncio.TaskGroup() as group:
        client = Api(server)
        asked = [
            group.create_task(client.create(CMS, config_map("a"))),
            group.create_task(client.create(CMS, config_map("a"), code=409)),
            group.create_task(client.get(f"{CMS}/a")),
            group.create_task(client.get(CMS)),
        ]
        await turns()
        assert not any(task.done() for task in asked)
        database.gate.set()
        await asyncio.gather(*asked)


async def test_reads_do_not_wait_when_nothing_is_being_written(tmp_path: Path) -> None:
    async with gated(tmp_path) as (_, server):
        task = asyncio.ensure_future(Api(server).get(CMS))
        await turns()
        assert task.done()


async def test_watchers_hear_only_what_is_safe_and_each_change_once(tmp_path: Path) -> None:
    async with gated(tmp_path) as (database, server), asyncio.TaskGroup() as group:
        client = Api(server)
        async with client.watch(CMS) as early:
            heard = group.create_task(early.told())
            group.create_task(client.create(CMS, config_map("a")))
            await turns()
            late = group.create_task(_two(client))
            await turns()
            assert not heard.done()
            database.gate.set()
            assert await heard == ("ADDED", "a")
            await client.create(CMS, config_map("b"))
            assert await early.told() == ("ADDED", "b")
            assert await late == [("ADDED", "a"), ("ADDED", "b")]


async def _two(client: Api) -> list[tuple[str, str]]:
    async with client.watch(CMS) as events:
        return [await events.told(), await events.told()]


async def test_a_watcher_hears_the_last_deletions_of_a_kind_that_goes(tmp_path: Path) -> None:
    async with open_durable_store(tmp_path) as store:
        client = Api(ApiServer(store=store))
        await client.create(CRDS, foo_definition())
        await client.create(FOOS, foo("a"))
        async with client.watch(FOOS) as events:
            assert await events.told() == ("ADDED", "a")
            await client.delete(f"{CRDS}/foos.example.com")
            told = [
                (event["type"], event["object"]["metadata"]["name"])
                for event in await events.rest()
            ]
        assert told[-1] == ("DELETED", "a")


async def test_what_queues_during_a_commit_is_the_next_commit(tmp_path: Path) -> None:
    async with gated(tmp_path) as (database, server), asyncio.TaskGroup() as group:
        client = Api(server)
        group.create_task(client.create(CMS, config_map("first")))
        await turns()
        for at in range(30):
            group.create_task(client.create(CMS, config_map(f"a{at}")))
        await turns()
        database.gate.set()
    assert database.sizes == [1, 30]


async def test_what_one_request_does_is_one_commit(tmp_path: Path) -> None:
    async with gated(tmp_path) as (database, server):
        client = Api(server)
        database.gate.set()
        for at in range(5):
            await client.create(CMS, config_map(f"a{at}"))
        database.sizes.clear()
        await client.delete(CMS)
        assert database.sizes == [5]


async def test_a_failed_commit_stops_everything(tmp_path: Path) -> None:
    with pytest.raises(CommitFailed, match="disk is full"):
        await _overfill(tmp_path)
    async with open_durable_store(tmp_path) as store:
        assert await Api(ApiServer(store=store)).names(CMS) == ["kept"]


async def _overfill(folder: Path) -> None:
    """Write more than the disk has room for, and see that neither reads nor writes go on."""
    async with open_durable_store(folder) as store, asyncio.TaskGroup() as group:
        client = Api(ApiServer(store=store))
        await client.create(CMS, config_map("kept"))
        connection = store.database.connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        large = config_map("a", {"k": "x" * 100_000})
        refused = group.create_task(client.create(CMS, large, code=500))
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await refused
        await client.get(CMS, code=500)


async def test_an_error_in_the_body_is_raised_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with open_durable_store(tmp_path):
            raise ZeroDivisionError


async def test_a_full_sized_cluster_boots_in_a_moment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_durable_store(tmp_path) as store:
        table = store.table("configmaps")
        for at in range(ROWS):
            store.put(
                table, f"default/c{at:05}", StoredEntry(b'","name":"c"},' + b" " * 600, 0, {}, {})
            )
        await store.durable()
    began = time.perf_counter()
    async with open_durable_store(tmp_path) as store:
        loaded = time.perf_counter()
        ApiServer(store=store)
        booted = time.perf_counter()
        assert len(store.table("configmaps").keys) == ROWS
    with capsys.disabled():
        load, boot = (loaded - began) * 1000, (booted - loaded) * 1000
        print(f" {ROWS} rows: loaded in {load:.0f} ms, booted in {boot:.0f} ms ", end="")
