"""Promises of quintant.client.subresource."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from msgspec.structs import replace as struct_replace

from quintant.client.transport import ApiRequest
from quintant.core.errors import ConfigError, NotFound, NotLeader
from quintant.core.object import Metadata
from quintant.testing.loop import advance, settle
from unit.runtime.client_testbed import ClientTestbed
from unit.runtime.kinds import Ship, meta, ship

PATH = "/apis/sea.quintant.dev/v1/namespaces/sea/ships/a/scale"


@pytest.fixture
async def testbed() -> AsyncIterator[ClientTestbed]:
    testbed = ClientTestbed()
    yield testbed
    await testbed.close()


async def test_a_subresource_is_read_as_plain_data(testbed: ClientTestbed) -> None:
    found, [asked] = await testbed.answered(
        testbed.client.subresource(ship("a"), "scale").get(), b'{"spec":{"replicas":3}}'
    )

    assert found == {"spec": {"replicas": 3}}
    assert (asked.call.method, asked.call.path, asked.query) == ("GET", PATH, {})


@pytest.mark.parametrize(
    ("method", "verb", "content"),
    [("patch", "PATCH", "application/merge-patch+json"), ("post", "POST", "application/json")],
)
async def test_a_subresource_is_written_as_plain_data(
    testbed: ClientTestbed, method: str, verb: str, content: str
) -> None:
    write = getattr(testbed.client.subresource(ship("a"), "scale"), method)

    found, [asked] = await testbed.answered(write({"spec": {"replicas": 3}}), b'{"ok":true}')

    assert found == {"ok": True}
    assert (asked.call.method, asked.call.path) == (verb, PATH)
    assert asked.call.headers["content-type"] == content
    assert asked.query == {"fieldManager": "tester"}
    assert asked.body == {"spec": {"replicas": 3}}
    assert asked.call.timeout == 3.0
    assert not asked.call.idempotent


async def test_a_dry_run_writes_no_subresource(testbed: ClientTestbed) -> None:
    client = replace(testbed.client, dry_run=True)

    _, [asked] = await testbed.answered(client.subresource(ship("a"), "scale").patch({}), b"{}")

    assert asked.query["dryRun"] == "All"


async def test_a_subresource_passes_the_fence(testbed: ClientTestbed) -> None:
    def fence(_: ApiRequest | None = None) -> None:
        raise NotLeader

    fenced = struct_replace(testbed.client.rest, fence=fence)
    scale = replace(testbed.client, rest=fenced).subresource(ship("a"), "scale")

    for write in (scale.patch, scale.post):
        with pytest.raises(NotLeader):
            await testbed.unasked(write({}))
    await testbed.answered(scale.get(), b"{}")


async def test_a_write_to_a_subresource_is_not_torn(testbed: ClientTestbed) -> None:
    doing, asked = await testbed.ask(testbed.client.subresource(ship("a"), "scale").patch({}))
    doing.cancel()
    await advance(1)
    assert not doing.done()

    asked.answer(b"{}")
    await settle()

    assert doing.cancelled()
    assert not asked.cancelled


async def test_a_subresource_of_nothing_is_an_error(testbed: ClientTestbed) -> None:
    with pytest.raises(NotFound):
        await testbed.answered(testbed.client.subresource(ship("a"), "scale").get(), 404)
    with pytest.raises(ConfigError, match="without a name"):
        await testbed.client.subresource(Ship(metadata=meta(""), spec=ship().spec), "scale").get()
    with pytest.raises(ConfigError, match="Metadata alone is not a kind"):
        await testbed.client.subresource(Metadata(metadata=meta()), "scale").get()
