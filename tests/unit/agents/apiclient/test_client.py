"""Promises of quintant.agents.apiclient.client, against real servers on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web

from quintant.agents.apiclient.client import ApiClient, CallLimits
from quintant.agents.apiclient.errors import ApiRefused, ApiUnreachable
from quintant.agents.apiclient.pod_account import PodAccount
from unit.agents.apiclient.pod_server import (
    COLLECTION,
    DEVICE,
    TOKEN,
    absent,
    device,
    failure,
    mount,
    pod,
)
from unit.client.loopback_servers import Answer, serving
from unit.client.pki import Authority

pytestmark = pytest.mark.realtime


def scripted(*answers: Callable[[], web.Response]) -> Answer:
    """A server that answers so, one after the other, and then as the last time."""
    left = list(answers)

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return (left.pop(0) if len(left) > 1 else left[0])()

    return answer


def stored() -> web.Response:
    return web.json_response(device(1))


async def test_object_is_read_as_the_pods_account(tmp_path: Path) -> None:
    async with pod(tmp_path / "m", scripted(stored)) as (client, api):
        assert await client.get(DEVICE) == device(1)
    (seen,) = api.seen
    assert seen.headers["authorization"] == f"Bearer {TOKEN}"
    assert seen.path == f"{COLLECTION}/camera"


async def test_absent_object_is_none_and_absent_kind_an_error(tmp_path: Path) -> None:
    async with pod(tmp_path / "m", scripted(absent, lambda: failure(404, "NotFound"))) as (c, _):
        assert await c.get(DEVICE) is None
        with pytest.raises(ApiRefused, match="404 NotFound"):
            await c.get(DEVICE)


async def test_status_is_merged_or_applied(tmp_path: Path) -> None:
    bodies: list[bytes] = []

    async def answer(request: web.Request) -> web.Response:
        bodies.append(await request.read())
        return stored()

    async with pod(tmp_path / "m", answer) as (client, api):
        await client.merge_status(DEVICE, {"phase": "Running"}, manager="agent")
        await client.merge_status(DEVICE, {"phase": "Running"}, manager="agent", sub="")
        assert await client.apply_status(DEVICE, {"phase": "Running"}, manager="agent")
    merged, whole, applied = api.seen
    assert merged.path_qs == f"{COLLECTION}/camera/status?fieldManager=agent"
    assert whole.path_qs == f"{COLLECTION}/camera?fieldManager=agent"
    assert merged.headers["content-type"] == "application/merge-patch+json"
    assert json.loads(bodies[0]) == {"status": {"phase": "Running"}}
    assert applied.path_qs == f"{COLLECTION}/camera/status?fieldManager=agent&force=true"
    assert applied.headers["content-type"] == "application/apply-patch+yaml"
    assert json.loads(bodies[2]) == {
        "apiVersion": "demo.dev/v1",
        "kind": "Device",
        "metadata": {"name": "camera", "namespace": "yard"},
        "status": {"phase": "Running"},
    }


async def test_what_a_server_has_of_a_version_is_known(tmp_path: Path) -> None:
    listed = {"resources": [{"name": "devices"}, {"name": "devices/status"}, None]}
    answers = (lambda: web.json_response(listed), lambda: failure(404, "NotFound"))
    async with pod(tmp_path / "m", scripted(*answers)) as (client, api):
        assert await client.resources("demo.dev/v1") == {"devices", "devices/status"}
        assert await client.resources("v2") == frozenset()
    assert [seen.path for seen in api.seen] == ["/apis/demo.dev/v1", "/api/v2"]


async def test_requests_share_a_connection(tmp_path: Path) -> None:
    async with pod(tmp_path / "m", scripted(stored)) as (client, api):
        for _ in range(3):
            await client.get(DEVICE)
    assert len(api.peers) == 1


async def test_connection_that_died_of_old_age_is_replaced(tmp_path: Path) -> None:
    def last() -> web.Response:
        return web.json_response(device(1), headers={"connection": "close"})

    async with pod(tmp_path / "m", scripted(last, stored)) as (client, api):
        assert [await client.get(DEVICE) for _ in range(2)] == [device(1)] * 2
    assert len(api.peers) == 2


async def test_what_may_pass_is_tried_again(tmp_path: Path) -> None:
    bad = [lambda code=code: failure(code) for code in (429, 500, 502, 503, 504)]
    async with pod(tmp_path / "m", scripted(*bad, stored)) as (client, api):
        assert await client.apply_status(DEVICE, {}, manager="agent") == device(1)
    assert len(api.seen) == 6


async def test_what_will_not_pass_is_told_at_once(tmp_path: Path) -> None:
    refusal = scripted(lambda: failure(403, "Forbidden", "not you"))
    async with pod(tmp_path / "m", refusal) as (client, api):
        with pytest.raises(ApiRefused, match="403 Forbidden: not you"):
            await client.get(DEVICE)
    assert len(api.seen) == 1


async def test_server_that_wants_more_time_than_there_is_is_not_asked_again(
    tmp_path: Path,
) -> None:
    def later() -> web.Response:
        return web.Response(status=429, headers={"retry-after": "3600"})

    async with pod(tmp_path / "m", scripted(later)) as (client, api):
        with pytest.raises(ApiRefused, match="429"):
            await client.get(DEVICE)
    assert len(api.seen) == 1


async def test_refused_token_is_read_again_once(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        fresh = request.headers["authorization"] == "Bearer second"
        return stored() if fresh else failure(401, "Unauthorized")

    async with pod(tmp_path / "m", answer) as (client, api):
        with pytest.raises(ApiRefused, match="401"):
            await client.get(DEVICE)
        assert len(api.seen) == 1
        mount(tmp_path / "m", "second")
        assert await client.get(DEVICE) == device(1)


async def test_server_that_nobody_vouches_for_never_sees_the_token(tmp_path: Path) -> None:
    stranger = Authority("stranger").serving("127.0.0.1")
    async with serving(scripted(stored), stranger) as api:
        account = PodAccount("127.0.0.1", api.port, str(mount(tmp_path / "m")))
        async with ApiClient(account, limits=CallLimits(call=0.1)) as client:
            with pytest.raises(ApiUnreachable, match="certificate") as raised:
                await client.get(DEVICE)
    assert api.seen == []
    assert TOKEN not in str(raised.value)


async def test_server_that_is_not_there_is_told_when_time_is_over(tmp_path: Path) -> None:
    account = PodAccount("127.0.0.1", 1, str(mount(tmp_path / "m")))
    async with ApiClient(account, limits=CallLimits(call=0.2)) as client:
        with pytest.raises(ApiUnreachable, match=r"127\.0\.0\.1:1 cannot be reached"):
            await client.get(DEVICE)


async def test_answer_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    async def silent(request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        return stored()

    limits = CallLimits(answer=0.05, call=0.1)
    async with pod(tmp_path / "m", silent, limits) as (client, _):
        with pytest.raises(ApiUnreachable, match="did not answer in time"):
            await client.get(DEVICE)


async def test_answer_that_is_too_large_is_not_taken(tmp_path: Path) -> None:
    large = scripted(lambda: web.json_response(device(1, text="x" * 20_000)))
    async with pod(tmp_path / "m", large, CallLimits(size=10_000)) as (client, _):
        with pytest.raises(ApiUnreachable, match="more than 10000 bytes"):
            await client.get(DEVICE)


@pytest.mark.parametrize("body", [b"", b"[]", b"<html>", b"\xff"])
async def test_answer_that_is_no_object_is_told(tmp_path: Path, body: bytes) -> None:
    async with pod(tmp_path / "m", scripted(lambda: web.Response(body=body))) as (client, _):
        with pytest.raises(ApiRefused, match="no object"):
            await client.get(DEVICE)
