"""What the sidecar says of its node, whatever the node answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from quintant.agents.cosmosnode.healthcheck import HealthCheck, HealthOptions
from quintant.http.request import Request
from quintant.http.response import Response
from quintant.http.server import serving

pytestmark = pytest.mark.realtime
Node = Callable[[Request], Awaitable[Response]]


def status(catching_up: bool) -> bytes:
    sync = {"latest_block_height": "7", "catching_up": catching_up}
    return json.dumps({"result": {"node_info": {"network": "n"}, "sync_info": sync}}).encode()


@asynccontextmanager
async def checked(node: Node, seconds: float = 5.0) -> AsyncIterator[HealthCheck]:
    async with serving(node, "127.0.0.1", 0) as (host, port):
        options = HealthOptions(f"http://{host}:{port}", seconds)
        yield HealthCheck(options, {"QUINTANT_POD_IP": "127.0.0.1"})


async def asked(body: bytes, code: int = 200) -> tuple[int, dict[str, Any]]:
    async def node(_: Request) -> Response:
        return Response(code, {}, body)

    async with checked(node) as check:
        answer = await check.in_sync()
    return answer.status, json.loads(answer.body)


async def test_a_node_in_sync_is_200_and_one_that_catches_up_422() -> None:
    code, told = await asked(status(catching_up=False))
    assert (code, told["in_sync"]) == (200, True)
    code, told = await asked(status(catching_up=True))
    assert (code, told["in_sync"]) == (422, False)
    assert told["address"].startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    "body", [b"", b"garbage", b"<html></html>", b"{}", b"[]", b'{"error": {"message": "no"}}']
)
async def test_what_is_no_status_is_503_with_the_reason(body: bytes) -> None:
    code, told = await asked(body)
    assert (code, told["in_sync"]) == (503, False)
    assert told["error"].startswith("malformed status")


async def test_an_answer_without_end_is_not_read_to_its_end() -> None:
    code, told = await asked(b"x" * 1_000_000)
    assert code == 503
    assert told["error"] == "the answer is larger than 262144 bytes"


async def test_a_node_that_does_not_answer_is_503_in_time() -> None:
    async def node(_: Request) -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    async with checked(node, seconds=0.05) as check:
        answer = await check.in_sync()
    assert answer.status == 503
    assert json.loads(answer.body)["error"] == "no answer in time"


async def test_a_node_that_is_not_there_is_503() -> None:
    check = HealthCheck(HealthOptions("http://127.0.0.1:1", 5.0), {})
    assert (await check.in_sync()).status == 503


def test_the_disk_of_a_claim_is_told_by_its_size(tmp_path: Path) -> None:
    folder = tmp_path / "root/home/operator/cosmos"
    folder.mkdir(parents=True)
    (folder / "block").write_bytes(b"x" * 8192)
    claims = tmp_path / "claims.json"
    claim = {"mountPath": "/home/operator/cosmos", "path": str(folder), "bytes": 81920}
    claims.write_text(json.dumps({"claims": [claim]}))
    environ = {"QUINTANT_ROOT": str(tmp_path / "root"), "QUINTANT_CLAIMS": str(claims)}
    answer = HealthCheck(HealthOptions(), environ).disk("/home/operator/cosmos")
    assert answer.status == 200
    assert json.loads(answer.body) == {
        "dir": "/home/operator/cosmos", "all_bytes": 81920, "free_bytes": 73728,
    }  # fmt: skip


def test_a_disk_that_is_not_named_or_not_there_is_an_error() -> None:
    check = HealthCheck(HealthOptions(), {})
    assert check.disk("").status == 400
    answer = check.disk("/nowhere/at/all")
    assert answer.status == 500
    assert json.loads(answer.body)["error"] == "No such file or directory"
