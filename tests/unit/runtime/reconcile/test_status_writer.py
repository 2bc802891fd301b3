"""Promises of quintant.runtime.reconcile.status_writer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.client.merge_patch import make_merge_patch
from quintant.core.clock import Random, monotonic
from quintant.core.codec import from_plain, to_plain
from quintant.core.errors import Conflict, NotFound, NotHeld, NotWatched, Status
from quintant.core.object import Custom, K, Model, ObjectMeta, Request, replace
from quintant.core.resource import resource
from quintant.runtime.reconcile.status_writer import ATTEMPTS, StatusWriter
from quintant.testing.loop import run, settle


class LogStatus(Model):
    entries: Mapping[str, int] = {}


@resource(group="test.quintant.dev", version="v1", status=True)
class Log(Custom[Model, LogStatus]):
    """Has a status that many write."""


KEY = Request("log", "sea")
Change = Callable[[LogStatus | None], LogStatus]


def put(name: str, value: int) -> Change:
    def change(status: LogStatus | None) -> LogStatus:
        entries = status.entries if status else {}
        return LogStatus(entries={**entries, name: value})

    return change


def add(name: str) -> Change:
    def change(status: LogStatus | None) -> LogStatus:
        entries = status.entries if status else {}
        return LogStatus(entries={**entries, name: entries.get(name, 0) + 1})

    return change


class Server:
    """Stores Logs and answers as an API server does, after `latency` seconds.

    `cache` is what reads without live=True see; `refusals` writes to come are conflicts.
    """

    def __init__(self, *names: str, latency: Callable[[], float] = lambda: 0.0) -> None:
        self.logs: dict[Request, Log] = {}
        self.cache: dict[Request, Log] = {}
        self.version = self.writes = self.active = self.most = 0
        self.refusals = 0
        self.latency = latency
        for name in names or (KEY.name,):
            self._store(Log(metadata=ObjectMeta(name=name, namespace="sea"), spec=Model()))

    def entries(self, key: Request = KEY) -> Mapping[str, int]:
        status = self.logs[key].status
        return status.entries if status else {}

    async def find(
        self, kind: type[K], name: str, namespace: str = "", *, live: bool = False
    ) -> K | None:
        if live:
            await asyncio.sleep(self.latency())
        return cast(K | None, (self.logs if live else self.cache).get(Request(name, namespace)))

    async def patch(self, new: K, *, since: K, sub: str = "") -> K:
        assert sub == "status"
        self.active += 1
        self.most = max(self.most, self.active)
        try:
            await asyncio.sleep(self.latency())
            return cast(K, self._patched(new, since))
        finally:
            self.active -= 1

    def merge(self, key: Request, entries: Mapping[str, int]) -> None:
        """A writer in another process: a merge patch without precondition."""
        old = self.logs[key]
        self._store(replace(old, status=LogStatus(entries={**self.entries(key), **entries})))

    def _patched(self, new: Any, since: Any) -> Log:
        live = self.logs.get(new.key)
        if live is None:
            raise NotFound(Status(code=404, reason="NotFound"))
        if self.refusals:
            self.refusals -= 1
            raise Conflict(Status(code=409, reason="Conflict"))
        if live.metadata.resource_version != since.metadata.resource_version:
            raise Conflict(Status(code=409, reason="Conflict"))
        self.writes += 1
        return self._store(_merged(live, make_merge_patch(new, since)))

    def _store(self, log: Log) -> Log:
        self.version += 1
        meta = replace(log.metadata, resource_version=str(self.version), uid="uid")
        self.logs[log.key] = replace(log, metadata=meta)
        return self.logs[log.key]


def _merged(log: Log, patch: Mapping[str, Any]) -> Log:
    plain = to_plain(log)
    _merge(plain, patch)
    return from_plain(Log, plain)


def _merge(into: dict[str, Any], patch: Mapping[str, Any]) -> None:
    for name, value in patch.items():
        if isinstance(value, dict):
            _merge(into.setdefault(name, {}), value)
        elif value is None:
            into.pop(name, None)
        else:
            into[name] = value


async def test_a_change_is_written_and_the_stored_object_returned() -> None:
    server = Server()
    stored = await StatusWriter(server).update(Log, KEY, put("a", 1))
    assert server.entries() == {"a": 1}
    assert stored == server.logs[KEY]


async def test_a_change_of_nothing_is_not_written() -> None:
    server = Server()
    server.merge(KEY, {"a": 1})
    assert await StatusWriter(server).update(Log, KEY, put("a", 1)) == server.logs[KEY]
    assert server.writes == 0


async def test_a_cached_status_saves_the_read() -> None:
    server = Server(latency=lambda: 1.0)
    server.cache = dict(server.logs)
    await StatusWriter(server).update(Log, KEY, put("a", 1))
    assert monotonic() == 1.0


async def test_a_stale_cache_does_not_make_a_change_look_done() -> None:
    server = Server()
    server.merge(KEY, {"a": 1})
    server.cache = dict(server.logs)
    server.merge(KEY, {"a": 2})
    await StatusWriter(server).update(Log, KEY, put("a", 1))
    assert server.entries() == {"a": 1}


async def test_a_stale_cache_does_not_bring_back_what_others_changed() -> None:
    server = Server()
    server.cache = dict(server.logs)
    server.merge(KEY, {"theirs": 5})
    await StatusWriter(server).update(Log, KEY, put("ours", 1))
    assert server.entries() == {"theirs": 5, "ours": 1}


@pytest.mark.parametrize("error", [NotWatched("Log"), NotHeld("Log", "default/a")])
async def test_what_caches_cannot_say_is_read_from_the_server(error: Exception) -> None:
    class Unwatched(Server):
        async def find(
            self, kind: type[K], name: str, namespace: str = "", *, live: bool = False
        ) -> K | None:
            if not live:
                raise error
            return await super().find(kind, name, namespace, live=live)

    server = Unwatched()
    await StatusWriter(server).update(Log, KEY, put("a", 1))
    assert server.entries() == {"a": 1}


@pytest.mark.parametrize("refusals", range(ATTEMPTS))
async def test_a_few_lost_races_are_run_again(refusals: int) -> None:
    server = Server()
    server.refusals = refusals
    await StatusWriter(server).update(Log, KEY, add("a"))
    assert server.entries() == {"a": 1}


async def test_a_race_lost_too_often_is_left_to_the_queue() -> None:
    server = Server()
    server.refusals = ATTEMPTS
    writer = StatusWriter(server)
    with pytest.raises(Conflict):
        await writer.update(Log, KEY, put("a", 1))
    await writer.update(Log, KEY, put("a", 1))
    assert server.entries() == {"a": 1}


async def test_an_absent_object_has_no_status_to_write() -> None:
    assert await StatusWriter(Server()).update(Log, Request("other", "sea"), put("a", 1)) is None


async def test_an_object_that_vanishes_meanwhile_is_no_error() -> None:
    server = Server()
    server.cache = dict(server.logs)
    server.logs.clear()
    assert await StatusWriter(server).update(Log, KEY, put("a", 1)) is None


async def test_one_object_is_written_serially_and_others_at_the_same_time() -> None:
    server = Server("a", "b", "c", latency=lambda: 1.0)
    writer = StatusWriter(server)
    async with asyncio.TaskGroup() as group:
        for name in ("a", "b", "c"):
            for n in range(5):
                key = Request(name, "sea")
                group.create_task(writer.update(Log, key, put(str(n), n)))
    assert server.most == 3
    assert server.writes == 15
    assert server.entries(Request("b", "sea")) == {str(n): n for n in range(5)}


async def test_a_change_that_fails_or_is_cancelled_lets_the_next_one_in() -> None:
    server = Server(latency=lambda: 1.0)
    writer = StatusWriter(server)

    def broken(status: LogStatus | None) -> LogStatus:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await writer.update(Log, KEY, broken)
    async with asyncio.TaskGroup() as group:
        torn = group.create_task(writer.update(Log, KEY, put("torn", 1)))
        await settle()
        torn.cancel()
        group.create_task(writer.update(Log, KEY, put("next", 1)))
    assert server.entries() == {"next": 1}


@given(
    seed=st.integers(0, 2**32),
    writers=st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=4),
    patches=st.lists(st.integers(0, 9), max_size=6),
)
def test_every_writer_finds_its_own_last_value_however_they_interleave(
    seed: int, writers: list[list[int]], patches: list[int]
) -> None:
    async def everybody() -> Server:
        random = Random(seed)
        server = Server(latency=lambda: random.uniform(0, 1))
        shared = StatusWriter(server, random)
        async with asyncio.TaskGroup() as group:
            for number, values in enumerate(writers):
                group.create_task(writing(shared, f"w{number}", values))
            group.create_task(patching(server, random))
        return server

    async def writing(shared: StatusWriter, name: str, values: list[int]) -> None:
        for value in values:
            await stubborn(shared, put(name, value))
            await stubborn(shared, add("sum"))

    async def patching(server: Server, random: Random) -> None:
        for value in patches:
            await asyncio.sleep(random.uniform(0, 3))
            server.merge(KEY, {"external": value})

    last = {f"w{n}": values[-1] for n, values in enumerate(writers) if values}
    last |= {"external": patches[-1]} if patches else {}
    last |= {"sum": total} if (total := sum(map(len, writers))) else {}
    assert run(everybody()).entries() == last


@given(seed=st.integers(0, 2**32))
def test_processes_that_write_the_same_object_lose_nothing(seed: int) -> None:
    async def everybody() -> Server:
        random = Random(seed)
        server = Server(latency=lambda: random.uniform(0, 0.01))
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(counting(StatusWriter(server, random)))
        return server

    async def counting(writer: StatusWriter) -> None:
        for _ in range(5):
            await stubborn(writer, add("n"))

    assert run(everybody()).entries() == {"n": 15}


async def stubborn(writer: StatusWriter, change: Change) -> None:
    """What a controller's queue does: try again after a conflict."""
    while True:
        try:
            await writer.update(Log, KEY, change)
        except Conflict:
            continue
        return


@pytest.mark.parametrize("cached", [True, False])
async def test_what_is_recorded_is_with_the_server_although_an_old_view_says_it(
    cached: bool,
) -> None:
    server = Server()
    writer = StatusWriter(server)
    seen = server.logs[KEY]
    assert await writer.record(seen, put("a", 1)) == LogStatus(entries={"a": 1})
    old = server.logs[KEY]
    await writer.update(Log, KEY, lambda status: LogStatus(entries={"b": 2}))
    if cached:
        server.cache[KEY] = old
    stored = await writer.record(old, put("a", 1))
    assert stored == LogStatus(entries={"a": 1, "b": 2})
    assert server.entries() == {"a": 1, "b": 2}


@pytest.mark.parametrize("what", ["gone", "made again", "being deleted"])
async def test_nothing_is_recorded_on_another_object_than_the_one_that_was_seen(what: str) -> None:
    server = Server()
    seen = replace(server.logs[KEY], metadata=replace(server.logs[KEY].metadata, uid="one"))
    server.logs[KEY] = server.cache[KEY] = seen
    if what == "gone":
        del server.logs[KEY]
    elif what == "made again":
        server.logs[KEY] = replace(seen, metadata=replace(seen.metadata, uid="other"))
    else:
        going = replace(seen.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
        server.logs[KEY] = replace(seen, metadata=going)
    server.cache = dict(server.logs)
    with pytest.raises(Conflict, match=what):
        await StatusWriter(server).record(seen, put("a", 1))
    assert KEY not in server.logs or not server.entries()
