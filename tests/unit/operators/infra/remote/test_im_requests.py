"""Requests to Infrastructure Manager: what is only good to know is waited for as long as an answer.

A log may come byte by byte, and each of many machines may take its time; a look ends all the same.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core.clock import monotonic
from quintant.core.errors import DeadlineExceeded
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.remote.gate import Gate
from quintant.operators.infra.remote.im import ImProvider

SECONDS = 30.0
MACHINE_SECONDS = 8.0
SESSION = ProviderSession("http://im", {}, {}, timeout=SECONDS)


class SlowWire:
    """A transport whose log comes byte by byte, and whose machines take long."""

    def __init__(self, *, head: float = 0.0) -> None:
        self.head = head

    async def request(self, call: ApiRequest) -> ApiResponse:
        name = call.path.rpartition("/")[2]
        assert call.timeout is not None
        await asyncio.sleep(min(MACHINE_SECONDS, call.timeout))
        if call.timeout < MACHINE_SECONDS:
            raise DeadlineExceeded(f"{call}: no answer in time")
        radl = [{"class": "system", "instance_name": f"m-{name}"}]
        return ApiResponse(200, json.dumps({"radl": radl}).encode())

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        await asyncio.sleep(self.head)

        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(200):
                await asyncio.sleep(5)
                yield b"."

        yield ApiStream(200, chunks())

    async def close(self) -> None: ...


def slow(*, head: float = 0.0) -> ImProvider:
    return ImProvider(SESSION, SlowWire(head=head), Gate(1), InfraMetrics())


async def test_log_that_drips_is_waited_for_as_long_as_any_answer() -> None:
    im, began = slow(), monotonic()
    assert await im.log("i-1") == ""
    assert monotonic() - began == SECONDS


async def test_log_whose_head_does_not_come_is_waited_for_as_long_as_any_answer() -> None:
    im, began = slow(head=3600), monotonic()
    assert await im.log("i-1") == ""
    assert monotonic() - began == SECONDS


async def test_machines_are_asked_one_after_the_other_and_for_no_longer_than_one_answer() -> None:
    im, began = slow(), monotonic()
    found = await im.machines("i-1", [str(at) for at in range(9)])
    assert {id: each.name for id, each in found.items()} == {
        "0": "m-0", "1": "m-1", "2": "m-2"
    }  # fmt: skip
    assert monotonic() - began == SECONDS
