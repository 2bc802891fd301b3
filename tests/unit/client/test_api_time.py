from __future__ import annotations

import asyncio

import pytest

from quintant.api.core import Pod
from quintant.client.api_time import measure_api_time
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core.errors import ConnectError, NotFound
from quintant.core.object import Request

POD = Request("a", "default")
FOUND = ApiResponse(200, b'{"metadata":{"name":"a"}}')


class Slow:
    """Answers after two seconds."""

    def __init__(self, answer: ApiResponse | Exception = FOUND) -> None:
        self._answer = answer

    async def request(self, call: ApiRequest) -> ApiResponse:
        await asyncio.sleep(2)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    def stream(self, call: ApiRequest) -> ApiStream:
        raise NotImplementedError

    async def close(self) -> None: ...


def rest(answer: ApiResponse | Exception = FOUND) -> Rest:
    return Rest(Slow(answer))  # type: ignore[arg-type]


async def test_time_of_every_request_is_added_up() -> None:
    with measure_api_time() as measured:
        await rest().get(Pod, POD)
        await asyncio.sleep(10)
        await rest().get(Pod, POD)
    assert measured.seconds == pytest.approx(4)


async def test_nobody_needs_to_measure() -> None:
    with measure_api_time() as measured:
        pass
    await rest().get(Pod, POD)
    assert measured.seconds == 0


async def test_tasks_started_inside_count_each() -> None:
    with measure_api_time() as measured:
        await asyncio.gather(rest().get(Pod, POD), rest().get(Pod, POD))
    assert measured.seconds == pytest.approx(4)


async def test_outer_measurement_counts_what_the_inner_one_does() -> None:
    with measure_api_time() as outer:
        await rest().get(Pod, POD)
        with measure_api_time() as inner:
            await rest().get(Pod, POD)
    assert [outer.seconds, inner.seconds] == pytest.approx([4, 2])


@pytest.mark.parametrize("answer", [ConnectError("no"), ApiResponse(404)])
async def test_requests_that_fail_count(answer: ApiResponse | Exception) -> None:
    with measure_api_time() as measured, pytest.raises((ConnectError, NotFound)):
        await rest(answer).get(Pod, POD)
    assert measured.seconds == pytest.approx(2)


async def test_request_that_is_cut_short_counts_until_then() -> None:
    with measure_api_time() as measured, pytest.raises(TimeoutError):
        await asyncio.wait_for(rest().get(Pod, POD), 1)
    assert measured.seconds == pytest.approx(1)


async def test_two_at_the_same_time_do_not_mix() -> None:
    async def measure(times: int) -> float:
        with measure_api_time() as measured:
            for _ in range(times):
                await rest().get(Pod, POD)
        return measured.seconds

    assert list(await asyncio.gather(measure(1), measure(3))) == pytest.approx([2, 6])
