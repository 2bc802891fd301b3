"""Promises of quintant.client.rest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from quintant.client.rest import (
    APPLY,
    ERROR_BYTES,
    ERROR_SECONDS,
    GRACE_SECONDS,
    Patch,
    Rest,
    located,
    uninterrupted,
)
from quintant.client.transport import ApiRequest
from quintant.core.clock import monotonic
from quintant.core.errors import (
    ApiError,
    BadRequest,
    ConfigError,
    ConnectError,
    NotFound,
    QuintantError,
    ServerError,
    TooManyRequests,
    Undecodable,
)
from quintant.core.object import Metadata, ObjectMeta, Request
from quintant.core.resource import resource_of
from quintant.testing.loop import advance, settle
from unit.runtime.kinds import Chart, Ocean, chart, meta
from unit.runtime.scripted_transport import Asked, ScriptedTransport, page

A = Request("a", "sea")
PATH = "/api/v1/namespaces/sea/charts"


class Counts:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int | str, float, int, int]] = []

    def requested(
        self, method: str, code: int | str, seconds: float, *, sent: int = 0, received: int = 0
    ) -> None:
        self.seen.append((method, code, seconds, sent, received))


class World:
    """A Rest whose server is the test."""

    def __init__(self) -> None:
        self.server, self.counts = ScriptedTransport(), Counts()
        self.rest = Rest(self.server, self.counts, write_timeout=3.0)

    async def ask(self, work: Coroutine[Any, Any, Any]) -> tuple[asyncio.Future[Any], Asked]:
        doing = asyncio.ensure_future(work)
        return doing, await self.server.asked()


@pytest.fixture
async def world() -> World:
    return World()


async def test_an_object_is_read_by_its_path(world: World) -> None:
    doing, asked = await world.ask(world.rest.get(Chart, A))
    asked.answer(chart("a", "5"))

    assert await doing == chart("a", "5")
    assert (asked.call.method, asked.call.path) == ("GET", f"{PATH}/a")
    assert asked.call.headers == {"accept": "application/json"}
    assert asked.call.timeout is None


async def test_metadata_alone_is_asked_for_as_such(world: World) -> None:
    doing, asked = await world.ask(world.rest.get(Metadata[Chart], A))
    asked.answer(chart("a", "5"))
    assert (await doing).metadata == meta("a", "5")
    assert "as=PartialObjectMetadata;" in asked.call.headers["accept"]

    doing, asked = await world.ask(world.rest.list_page(Metadata[Chart], "sea", {}))
    asked.answer(page())
    await doing
    assert "as=PartialObjectMetadataList;" in asked.call.headers["accept"]


async def test_a_page_is_read_with_its_query(world: World) -> None:
    doing, asked = await world.ask(world.rest.list_page(Chart, "sea", {"limit": "5"}))
    asked.answer(page(chart("a", "5"), version="7", more="token"))

    found = await doing

    assert (asked.call.path, asked.query) == (PATH, {"limit": "5"})
    assert (found.metadata.resource_version, found.metadata.continue_token) == ("7", "token")


async def test_a_watch_yields_what_comes_and_closes_behind_itself(world: World) -> None:
    async def read() -> list[bytes]:
        async with world.rest.watch(Metadata[Chart], "sea", {"a": "b"}) as chunks:
            return [chunk async for chunk in chunks]

    doing, asked = await world.ask(read())
    asked.accept()
    asked.say(b"line")
    asked.end()

    assert await doing == [b"line\n"]
    assert asked.query == {"a": "b", "watch": "1"}
    assert "as=PartialObjectMetadata;" in asked.call.headers["accept"]
    assert asked.closed


async def watching(rest: Rest) -> None:
    async with rest.watch(Chart, "sea", {}):
        pytest.fail("a refused watch was opened")


async def test_a_refused_watch_raises_the_servers_words(world: World) -> None:
    doing, asked = await world.ask(watching(world.rest))
    asked.fail(429, "too much", retry_after="7")

    with pytest.raises(TooManyRequests, match=r"too much \(GET .*watch=1\)") as caught:
        await doing

    assert caught.value.retry_after == 7
    assert asked.closed


async def test_an_endless_refusal_is_cut(world: World) -> None:
    doing, asked = await world.ask(watching(world.rest))
    asked.answer(b"x" * (ERROR_BYTES + 1), 500)

    with pytest.raises(ServerError):
        await doing


async def test_a_refusal_that_does_not_come_to_its_end_is_taken_as_it_is(world: World) -> None:
    doing, asked = await world.ask(watching(world.rest))
    asked.trickle(502, b"bad gate")

    began = monotonic()
    with pytest.raises(ServerError, match="bad gate"):
        await doing
    assert monotonic() - began == ERROR_SECONDS


async def test_each_write_goes_where_it_belongs(world: World) -> None:
    query = {"fieldManager": "m"}
    patch = Patch(APPLY, b"{}", idempotent=True)
    writes: list[tuple[Coroutine[Any, Any, bytes], str, str, str, bool]] = [
        (world.rest.create(chart(), query), "POST", PATH, "application/json", False),
        (world.rest.patch(Chart, A, patch, query=query), "PATCH", f"{PATH}/a", APPLY, True),
        (
            world.rest.patch(Chart, A, Patch(APPLY, b"{}"), sub="status", query=query),
            "PATCH", f"{PATH}/a/status", APPLY, False,
        ),
    ]  # fmt: skip
    for work, method, path, kind, idempotent in writes:
        doing, asked = await world.ask(work)
        asked.answer(b"stored")
        assert await doing == b"stored"
        assert (asked.call.method, asked.call.path) == (method, path)
        assert asked.call.headers == {"accept": "application/json", "content-type": kind}
        assert asked.query == query
        assert asked.call.timeout == 3.0
        assert asked.call.idempotent is idempotent


async def test_a_deletion_carries_its_options(world: World) -> None:
    doing, asked = await world.ask(world.rest.delete(Chart, A, {"dryRun": ["All"]}))
    asked.answer(b"{}")

    assert await doing == b"{}"
    assert (asked.call.method, asked.call.path) == ("DELETE", f"{PATH}/a")
    assert asked.body == {"dryRun": ["All"]}
    assert asked.call.timeout == 3.0


async def test_a_refusal_is_raised_with_the_request_it_answers(world: World) -> None:
    doing, asked = await world.ask(world.rest.get(Chart, A))
    asked.fail(404, "no such chart", "NotFound")

    with pytest.raises(NotFound, match=f"404 NotFound: no such chart \\(GET {PATH}/a\\)"):
        await doing


async def test_an_answer_that_is_no_object_is_undecodable(world: World) -> None:
    for work in (world.rest.get(Chart, A), world.rest.list_page(Chart, "sea", {})):
        doing, asked = await world.ask(work)
        asked.answer(b"<html>")
        with pytest.raises(Undecodable):
            await doing


async def test_streams_are_counted_once_when_they_open_or_do_not(world: World) -> None:
    async def follow() -> None:
        async with world.rest.watch(Chart, "sea", {}) as chunks:
            async for _ in chunks:
                pass

    for begin in (Asked.accept, Asked.refuse, lambda asked: asked.fail(403)):
        doing, asked = await world.ask(follow())
        begin(asked)
        await settle()
        asked.cut()
        with pytest.raises(QuintantError):
            await doing

    assert [(seen[0], seen[1]) for seen in world.counts.seen] == [
        ("GET", 200),
        ("GET", "<error>"),
        ("GET", 403),
    ]


async def test_requests_are_counted_with_their_size_and_time(world: World) -> None:
    doing, asked = await world.ask(world.rest.send(ApiRequest("PUT", "/x", body=b"12345")))
    await advance(2)
    asked.answer(b"123", 201)
    await doing
    doing, asked = await world.ask(world.rest.send(ApiRequest("GET", "/x")))
    asked.fail(409)
    with pytest.raises(ApiError):
        await doing
    doing, asked = await world.ask(world.rest.send(ApiRequest("GET", "/x")))
    asked.refuse()
    with pytest.raises(ConnectError):
        await doing

    assert world.counts.seen[0] == ("PUT", 201, 2.0, 5, 3)
    assert [seen[:2] for seen in world.counts.seen[1:]] == [("GET", 409), ("GET", "<error>")]


# Keys.


def test_a_key_names_one_object() -> None:
    assert located(resource_of(Chart), "a", "sea") == A
    assert located(resource_of(Ocean), "a", "ignored") == Request("a")


@pytest.mark.parametrize(
    "work",
    [
        lambda rest: rest.get(Chart, Request("", "sea")),
        lambda rest: rest.delete(Chart, Request("", "sea"), {}),
        lambda rest: rest.delete(Chart, Request("", ""), {}),
        lambda rest: rest.patch(Chart, Request("", "sea"), Patch(APPLY, b""), query={}),
        lambda rest: rest.patch(Chart, Request("a", ""), Patch(APPLY, b""), query={}),
        lambda rest: rest.get(Chart, Request("a", "")),
        lambda rest: rest.create(Chart(metadata=ObjectMeta(name="a")), {}),
    ],
)
async def test_what_names_no_object_is_never_sent(
    world: World, work: Callable[[Rest], Awaitable[Any]]
) -> None:
    with pytest.raises(ConfigError, match="cannot address"):
        await work(world.rest)
    with pytest.raises(BadRequest):
        await world.rest.get(Chart, Request("../a", "sea"))

    assert world.server.calls == []


async def test_a_server_may_choose_the_name(world: World) -> None:
    obj = Chart(metadata=ObjectMeta(generate_name="a-", namespace="sea"))

    doing, asked = await world.ask(world.rest.create(obj, {}))
    asked.answer(b"{}")
    await doing

    assert asked.call.path == PATH


# Cancellation.


class Write:
    """A write that ends when it is told to."""

    def __init__(self) -> None:
        self.go: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.marked = ""
        self.task = asyncio.ensure_future(uninterrupted(self._work()))

    async def _work(self) -> str:
        self.marked = await self.go
        return self.marked


async def test_a_write_left_alone_gives_its_result() -> None:
    write = Write()
    write.go.set_result("done")

    assert await write.task == "done"


async def test_a_write_that_fails_raises_its_error() -> None:
    write = Write()
    write.go.set_exception(ConnectError("gone"))

    with pytest.raises(ConnectError):
        await write.task


async def test_a_cancelled_write_still_comes_to_its_end() -> None:
    write = Write()
    await settle()
    write.task.cancel()
    await advance(GRACE_SECONDS - 1)
    assert not write.task.done()

    write.go.set_result("done")
    await settle()

    assert write.task.cancelled()
    assert write.marked == "done"


async def test_a_cancelled_write_is_let_go_after_its_grace() -> None:
    write = Write()
    await settle()
    write.task.cancel()

    await advance(GRACE_SECONDS)
    await settle()

    assert write.task.cancelled()
    assert write.go.cancelled()


async def test_a_second_cancellation_ends_the_grace() -> None:
    write = Write()
    await settle()
    write.task.cancel()
    await advance(1)
    write.task.cancel()
    await settle()

    assert write.task.cancelled()
    assert write.go.cancelled()


async def test_the_failure_of_a_cancelled_write_troubles_nobody() -> None:
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda loop, context: complaints.append(context)
    )
    write = Write()
    await settle()
    write.task.cancel()
    await settle()
    write.go.set_exception(ConnectError("gone"))
    await settle()
    cancelled = write.task.cancelled()
    del write
    await settle()

    assert cancelled
    assert complaints == []


async def test_a_time_limit_is_kept_after_the_write_has_ended() -> None:
    write = Write()

    async def limited() -> None:
        async with asyncio.timeout(2):
            await write.task

    doing = asyncio.ensure_future(limited())
    await advance(3)
    assert not doing.done()
    write.go.set_result("done")

    with pytest.raises(TimeoutError):
        await doing
    assert write.marked == "done"
