"""No more requests are under way than may be; streams are not counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from quintant.client.request_limit import RequestLimit
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream


class Slow:
    """A transport that answers when it is let."""

    def __init__(self) -> None:
        self.under_way, self.most, self.closed = 0, 0, False
        self.answer = asyncio.Event()

    async def request(self, call: ApiRequest) -> ApiResponse:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await self.answer.wait()
        finally:
            self.under_way -= 1
        return ApiResponse(200, b"")

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        yield ApiStream(200, _nothing())

    async def close(self) -> None:
        self.closed = True


async def _nothing() -> AsyncIterator[bytes]:
    nothing: tuple[bytes, ...] = ()
    for chunk in nothing:
        yield chunk


CALL = ApiRequest("GET", "/x", {}, {})


async def test_further_requests_wait_and_all_are_answered() -> None:
    slow = Slow()
    limited = RequestLimit(slow, 3)
    asked = [asyncio.ensure_future(limited.request(CALL)) for _ in range(10)]
    await asyncio.sleep(0)
    slow.answer.set()
    assert [each.status for each in await asyncio.gather(*asked)] == [200] * 10
    assert slow.most == 3


async def test_one_that_is_given_up_leaves_its_place() -> None:
    slow = Slow()
    limited = RequestLimit(slow, 1)
    first, second = (asyncio.ensure_future(limited.request(CALL)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait({first})
    slow.answer.set()
    assert (await second).status == 200


async def test_streams_are_not_counted_and_the_end_is_passed_on() -> None:
    slow = Slow()
    limited = RequestLimit(slow, 1)
    waits = asyncio.ensure_future(limited.request(CALL))
    await asyncio.sleep(0)
    async with limited.stream(CALL) as stream:
        assert stream.status == 200
    slow.answer.set()
    await waits
    await limited.close()
    assert slow.closed
