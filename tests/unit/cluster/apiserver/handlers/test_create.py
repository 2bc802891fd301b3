from __future__ import annotations

import pytest

from unit.cluster.api import (
    CMS,
    api,
    config_map,
)


async def test_what_only_the_server_says_is_wiped_from_a_new_object() -> None:
    sent = config_map("a", uid="mine", creationTimestamp="2000-01-01T00:00:00Z", selfLink="/x")
    created = await api().create(CMS, {**sent, "metadata": {**sent["metadata"], "generation": 7}})
    assert created["metadata"]["uid"] != "mine"
    assert created["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert "selfLink" not in created["metadata"]
    assert created["metadata"]["generation"] == 7


async def test_bodies_may_be_yaml() -> None:
    client = api()
    text = b"metadata:\n  name: a\ndata:\n  on: 'yes'\n"
    created = await client.create(CMS, text, media="application/yaml")
    assert created["data"] == {"true": "yes"}


@pytest.mark.parametrize("body", [b"{", b"[]", b"", b"1", b'{"metadata":1}'])
async def test_a_body_that_is_no_object_is_a_bad_request(body: bytes) -> None:
    assert (await api().create(CMS, body, code=400))["reason"] == "BadRequest"


async def test_an_unknown_body_is_an_unsupported_media_type() -> None:
    await api().create(CMS, b"a,b", media="text/csv", code=415)
