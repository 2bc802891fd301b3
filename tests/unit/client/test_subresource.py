"""Promises of quintant.client.subresource."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from quintant.core.errors import ConfigError, NotFound, NotLeader
from quintant.core.object import Metadata
from quintant.testing.loop import advance, settle
from unit.client.desk import Desk
from unit.runtime.kinds import Ship, meta, ship

PATH = "/apis/sea.quintant.dev/v1/namespaces/sea/ships/a/scale"


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    desk = Desk()
    yield desk
    await desk.close()


async def test_a_subresource_is_read_as_plain_data(desk: Desk) -> None:
    found, [asked] = await desk.answered(
        desk.client.sub(ship("a"), "scale").get(), b'{"spec":{"replicas":3}}'
    )

    assert found == {"spec": {"replicas": 3}}
    assert (asked.call.method, asked.call.path, asked.query) == ("GET", PATH, {})


@pytest.mark.parametrize(
    ("method", "verb", "content"),
    [("patch", "PATCH", "application/merge-patch+json"), ("post", "POST", "application/json")],
)
async def test_a_subresource_is_written_as_plain_data(
    desk: Desk, method: str, verb: str, content: str
) -> None:
    write = getattr(desk.client.sub(ship("a"), "scale"), method)

    found, [asked] = await desk.answered(write({"spec": {"replicas": 3}}), b'{"ok":true}')

    assert found == {"ok": True}
    assert (asked.call.method, asked.call.path) == (verb, PATH)
    assert asked.call.headers["content-type"] == content
    assert asked.query == {"fieldManager": "tester"}
    assert asked.body == {"spec": {"replicas": 3}}
    assert asked.call.timeout == 3.0
    assert not asked.call.idempotent


async def test_a_dry_run_writes_no_subresource(desk: Desk) -> None:
    client = replace(desk.client, dry_run=True)

    _, [asked] = await desk.answered(client.sub(ship("a"), "scale").patch({}), b"{}")

    assert asked.query["dryRun"] == "All"


async def test_a_subresource_passes_the_fence(desk: Desk) -> None:
    def fence() -> None:
        raise NotLeader

    scale = replace(desk.client, fence=fence).sub(ship("a"), "scale")

    for write in (scale.patch, scale.post):
        with pytest.raises(NotLeader):
            await desk.unasked(write({}))
    await desk.answered(scale.get(), b"{}")


async def test_a_write_to_a_subresource_is_not_torn(desk: Desk) -> None:
    doing, asked = await desk.ask(desk.client.sub(ship("a"), "scale").patch({}))
    doing.cancel()
    await advance(1)
    assert not doing.done()

    asked.answer(b"{}")
    await settle()

    assert doing.cancelled()
    assert not asked.cancelled


async def test_a_subresource_of_nothing_is_an_error(desk: Desk) -> None:
    with pytest.raises(NotFound):
        await desk.answered(desk.client.sub(ship("a"), "scale").get(), 404)
    with pytest.raises(ConfigError, match="without a name"):
        await desk.client.sub(Ship(metadata=meta(""), spec=ship().spec), "scale").get()
    with pytest.raises(ConfigError, match="Metadata alone is not a kind"):
        await desk.client.sub(Metadata(metadata=meta()), "scale").get()
