"""Snapshots of a cluster at work: one moment, all of it, and the way back."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext

import msgspec
import pytest

from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.storage.snapshot_file import UnusableSnapshot, decode_snapshot
from quintant.cluster.instance.snapshots import PATH, ClusterSnapshots, read_snapshot
from quintant.core.clock import LoopClock
from testbeds.call_counter import counted_calls
from unit.cluster.api import CMS, Api, config_map, server

WRITERS, WRITES = 10, 20
MANY = 5_000
CALLS_PER_OBJECT = 25
"""Of taking and restoring an object: a call of C takes less than a microsecond."""


def serving(made: ApiServer | None = None) -> Api:
    """A server whose snapshots an administrator may take."""
    made = made or server(rbac=True)
    made.tokens.add("root", admin("root"))

    async def nothing() -> None: ...

    ClusterSnapshots(made, LoopClock(), "dev", nullcontext, nothing).serve()
    return Api(made, "root")


async def save(api: Api) -> bytes:
    reply = await api.send("GET", PATH)
    assert (reply.status, reply.headers["content-type"]) == (200, "application/octet-stream")
    return reply.body


async def restore(api: Api, raw: bytes) -> dict[str, int]:
    reply = await api.send("PUT", PATH, raw, media="application/octet-stream")
    assert reply.status == 200, reply.body
    result: dict[str, int] = msgspec.json.decode(reply.body)
    return result


async def test_a_snapshot_is_of_one_moment_while_others_write() -> None:
    api = serving()

    async def write(number: int) -> None:
        path = f"{CMS}/{number}"
        await api.create(CMS, config_map(str(number)))
        for count in range(WRITES):
            await api.merge(path, {"data": {"count": str(count)}})
            await asyncio.sleep(0.002)

    async with asyncio.TaskGroup() as group:
        for number in range(WRITERS):
            group.create_task(write(number))
        taken = []
        for _ in range(5):
            await asyncio.sleep(0.005)
            taken.append(await save(api))
    revisions = [decode_snapshot(raw)[0].revision for raw in taken]
    assert len(set(revisions)) == len(taken), "others wrote between any two"
    assert revisions[-1] < int((await api.get(CMS))["metadata"]["resourceVersion"])
    for raw in taken:
        info, snapshot = decode_snapshot(raw)
        listed = await api.get(
            CMS, resourceVersion=str(info.revision), resourceVersionMatch="Exact"
        )
        versions = {each["metadata"]["name"]: each["metadata"]["resourceVersion"]
                    for each in listed["items"]}  # fmt: skip
        table = snapshot.tables["configmaps"].entries
        assert versions == {key.partition("/")[2]: str(entry.rv) for key, entry in table.items()}
        assert info.cluster == "dev"


async def test_a_fork_has_one_moment_of_a_cluster_that_is_written_to() -> None:
    api = serving()
    await api.create(CMS, config_map("count", {"number": "0"}))

    async def write() -> None:
        for number in range(1, 100):
            await api.merge(f"{CMS}/count", {"data": {"number": str(number)}})
            await api.create(CMS, config_map(f"{number:03}"))
            await asyncio.sleep(0.002)

    async with asyncio.TaskGroup() as group:
        group.create_task(write())
        await asyncio.sleep(0.1)
        _, snapshot = read_snapshot(await save(api))
        fork = serving(ApiServer(clock=LoopClock(), store=RevisionStore.of(snapshot), rbac=True))
        count = (await fork.get(f"{CMS}/count"))["data"]["number"]
        listed = await fork.names(CMS)
        await fork.create(CMS, config_map("only-in-the-fork"))
    assert 1 < int(count) < 99
    assert listed in ([*_numbered(int(count)), "count"], [*_numbered(int(count) - 1), "count"])
    assert len(await fork.names(CMS)) == len(listed) + 1
    assert len(await api.names(CMS)) == 100


def _numbered(last: int) -> list[str]:
    return [f"{number:03}" for number in range(1, last + 1)]


async def test_a_restore_brings_back_what_was_and_nothing_else() -> None:
    api = serving()
    await api.create(CMS, config_map("kept", {"a": "1"}))
    await api.create(CMS, config_map("deleted"))
    raw = await save(api)
    await api.merge(f"{CMS}/kept", {"data": {"a": "2"}})
    await api.delete(f"{CMS}/deleted")
    await api.create(CMS, config_map("new"))
    before = api.server.store.revision
    result = await restore(api, raw)
    assert await api.names(CMS) == ["deleted", "kept"]
    assert (await api.get(f"{CMS}/kept"))["data"] == {"a": "1"}
    assert result["revision"] > before
    written = await api.merge(f"{CMS}/kept", {"data": {"a": "3"}})
    assert int(written["metadata"]["resourceVersion"]) > before


async def test_a_client_from_before_a_restore_has_to_list_again() -> None:
    api = serving()
    raw = await save(api)
    await api.create(CMS, config_map("new"))
    newest = (await api.get(CMS))["metadata"]["resourceVersion"]
    async with api.watch(CMS, resourceVersion=newest) as open_watch:
        await restore(api, raw)
        (error,) = await open_watch.rest()
    assert (error["type"], error["object"]["code"]) == ("ERROR", 410)
    async with api.watch(CMS, resourceVersion=newest) as later:
        (error,) = await later.rest()
    assert error["object"]["reason"] == "Expired"
    listed = await api.get(CMS)
    async with api.watch(CMS, resourceVersion=listed["metadata"]["resourceVersion"]) as again:
        await api.create(CMS, config_map("after"))
        assert await again.told() == ("ADDED", "after")


async def test_a_snapshot_of_another_cluster_can_be_restored() -> None:
    one, two = serving(), serving()
    await one.create(CMS, config_map("a"))
    await two.create(CMS, config_map("b"))
    await restore(two, await save(one))
    assert (await one.names(CMS), await two.names(CMS)) == (["a"], ["a"])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda raw: b"", "it is empty"),
        (lambda raw: raw[: len(raw) // 2], "it is damaged"),
        (lambda raw: raw.replace(b"configmaps", b"configmapz"), "its checksum is another"),
        (lambda raw: raw.replace(b'"format":1', b'"format":2'), "it is of format 2"),
        (lambda raw: b"\x7fELF" + raw, "it is no snapshot of a cluster"),
    ],
    ids=["empty", "cut", "damaged", "newer", "foreign"],
)
async def test_what_is_no_whole_snapshot_changes_nothing(change: object, why: str) -> None:
    api = serving()
    await api.create(CMS, config_map("a"))
    raw = await save(api)
    assert callable(change)
    before = api.server.store.revision
    async with api.watch(CMS) as events:
        await events.next()
        refused = await api.put(PATH, change(raw), code=400)
        assert why in refused["message"]
        await api.create(CMS, config_map("b"))
        assert await events.told() == ("ADDED", "b")
    assert api.server.store.revision == before + 1


async def test_what_no_cluster_can_go_on_from_is_taken_back() -> None:
    made = server(rbac=True)
    made.tokens.add("root", admin("root"))
    api, failures = Api(made, "root"), [KeyError("spec")]

    async def prepare() -> None:
        if failures:
            raise failures.pop()

    snapshots = ClusterSnapshots(made, LoopClock(), "dev", nullcontext, prepare)
    await api.create(CMS, config_map("a", {"state": "before"}))
    raw = await snapshots.save()
    await api.merge(f"{CMS}/a", {"data": {"state": "now"}})

    with pytest.raises(UnusableSnapshot):
        await snapshots.restore(raw)

    assert (await api.get(f"{CMS}/a"))["data"] == {"state": "now"}


async def test_other_methods_are_refused() -> None:
    assert (await serving().send("DELETE", PATH)).status == 405


async def test_five_thousand_objects_take_few_calls() -> None:
    api = serving()
    for number in range(20):
        await api.create(CMS, config_map(str(number), {"text": "x" * 1000}))
    store = api.server.store
    table = store.table("configmaps")
    content = table.entries["default/0"]
    for number in range(20, MANY):
        store.put(table, f"default/{number}", content)
    with counted_calls() as counter:
        raw = await save(api)
        await restore(api, raw)
    assert counter.calls < CALLS_PER_OBJECT * MANY
    assert len(store.table("configmaps").entries) == MANY
