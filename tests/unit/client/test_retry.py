"""Promises of quintant.client.retry."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quintant.client.retry import TRIES, is_repeatable, retry_delay, with_retries
from quintant.client.token_bucket import TokenBucket
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.core.clock import monotonic
from quintant.core.errors import ConnectError, DeadlineExceeded, NoCredentials, TransportError
from unit.client.server import Server

GET, POST = ApiRequest("GET", "/api"), ApiRequest("POST", "/api")
PATCH, APPLY = ApiRequest("PATCH", "/api"), ApiRequest("PATCH", "/api", idempotent=True)


def busy(status: int = 429, seconds: int | None = 3) -> ApiResponse:
    return ApiResponse(status, headers={} if seconds is None else {"retry-after": str(seconds)})


def test_only_what_does_no_harm_twice_is_repeatable() -> None:
    assert all(
        map(is_repeatable, (GET, APPLY, ApiRequest("DELETE", "/a"), ApiRequest("PUT", "/a")))
    )
    assert not any(map(is_repeatable, (POST, PATCH)))


@pytest.mark.parametrize("status", [429, 500, 503, 504])
@pytest.mark.parametrize("call", [GET, POST, PATCH, APPLY])
@given(roll=st.floats(0, 1), seconds=st.integers(0, 600))
def test_anything_is_tried_again_when_the_server_says_when(
    status: int, call: ApiRequest, roll: float, seconds: int
) -> None:
    wait = retry_delay(call, busy(status, seconds), 1, roll)
    assert wait is not None
    assert seconds <= wait <= seconds * 1.1


@pytest.mark.parametrize("outcome", [busy(429, None), busy(503, None), ConnectError("gone")])
def test_without_that_word_only_the_repeatable_is(outcome: ApiResponse | TransportError) -> None:
    assert retry_delay(GET, outcome, 1, 0.5) is not None
    assert retry_delay(APPLY, outcome, 1, 0.5) is not None
    assert retry_delay(POST, outcome, 1, 0.5) is None
    assert retry_delay(PATCH, outcome, 1, 0.5) is None


@pytest.mark.parametrize(
    "outcome",
    [
        ApiResponse(200),
        ApiResponse(404),
        ApiResponse(409),
        ApiResponse(409, headers={"retry-after": "1"}),
        ApiResponse(500),
        DeadlineExceeded("late"),
        NoCredentials("none"),
    ],
)
def test_other_outcomes_stand(outcome: ApiResponse | TransportError) -> None:
    assert retry_delay(GET, outcome, 1, 0.5) is None


@pytest.mark.parametrize("text", ["\xb2", "9" * 400, "9" * 5000, "-1", "1.5", "soon", ""])
async def test_named_time_that_is_none_is_as_if_it_were_not_named(text: str) -> None:
    replies = [ApiResponse(429, headers={"retry-after": text})]
    server = Server(lambda call: replies.pop() if replies else ApiResponse(200))
    assert (await with_retries(server).request(GET)).status == 200
    assert monotonic() < 1


def test_pauses_double_up_to_the_longest_and_end() -> None:
    longest = [retry_delay(GET, ConnectError(""), failures, 1.0) for failures in range(1, TRIES)]
    assert longest == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5])
    assert retry_delay(GET, ConnectError(""), TRIES, 1.0) is None


async def test_answer_is_passed_on_at_once_when_all_is_well() -> None:
    server = Server()
    assert (await with_retries(server).request(POST)).status == 200
    assert monotonic() == 0


async def test_no_request_comes_earlier_than_told_and_recovery_is_complete() -> None:
    server = Server(lambda call: ApiResponse(200) if monotonic() >= 20 else busy())
    assert (await with_retries(server).request(POST)).status == 200
    times = [at for at, _ in server.received]
    assert all(3 <= after - before <= 3.3 for before, after in pairwise(times))


async def test_patience_ends_after_ten_tries_with_the_last_answer() -> None:
    server = Server(lambda call: busy())
    assert (await with_retries(server).request(GET)).status == 429
    assert len(server.received) == 10


async def test_lost_connection_is_raised_when_patience_ends() -> None:
    server = Server(lambda call: ConnectError("gone"))
    with pytest.raises(ConnectError, match="gone"):
        await with_retries(server).request(GET)
    assert len(server.received) == 10


async def test_patience_stays_within_the_time_limit_of_the_call() -> None:
    server = Server(lambda call: busy())
    reply = await with_retries(server).request(ApiRequest("GET", "/api", timeout=5))
    assert reply.status == 429
    assert monotonic() <= 5
    (_, first), (_, second) = server.received
    assert first.timeout == 5
    assert second.timeout is not None
    assert second.timeout < 2


async def test_lost_create_is_not_sent_twice() -> None:
    server = Server(lambda call: ConnectError("gone"))
    with pytest.raises(ConnectError):
        await with_retries(server).request(POST)
    assert len(server.received) == 1


async def test_streams_and_closing_pass_through() -> None:
    server = Server()
    transport = with_retries(server)
    async with transport.stream(GET) as stream:
        assert stream.status == 200
    await transport.close()
    assert server.closed


class Count:
    """An observer that writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, object]] = []

    def retried(self, method: str, code: int | str) -> None:
        self.told.append(("retried", method, code))

    def throttled(self, method: str, seconds: float) -> None:
        self.told.append(("throttled", method, seconds))


async def test_second_tries_and_waiting_are_counted() -> None:
    outcomes: list[ApiResponse | TransportError] = [busy(), ConnectError("gone"), ApiResponse(200)]
    count = Count()
    server = Server(lambda call: outcomes.pop(0))
    await with_retries(server, observer=count).request(GET)
    assert count.told == [("retried", "GET", 429), ("retried", "GET", "<error>")]
    count.told.clear()
    limited = with_retries(Server(), bucket=TokenBucket(rate=1), observer=count)
    for _ in range(2):
        await limited.request(GET)
    waits = [pytest.approx(0, abs=1e-9), pytest.approx(1)]
    assert count.told == [("throttled", "GET", wait) for wait in waits]


async def test_bucket_spreads_requests_after_its_burst() -> None:
    server = Server()
    transport = with_retries(server, bucket=TokenBucket(rate=2, burst=3))
    await asyncio.gather(*(transport.request(GET) for _ in range(7)))
    assert [at for at, _ in server.received] == pytest.approx([0, 0, 0, 0.5, 1, 1.5, 2])
    await asyncio.sleep(60)
    await asyncio.gather(*(transport.request(GET) for _ in range(4)))
    assert [at for at, _ in server.received[7:]] == pytest.approx([62, 62, 62, 62.5])


async def test_bucket_counts_against_the_time_of_a_call() -> None:
    server = Server()
    transport = with_retries(server, bucket=TokenBucket(rate=0.5))
    await transport.request(GET)
    with pytest.raises(DeadlineExceeded, match="our own rate limit"):
        await transport.request(replace(GET, timeout=1))
    await transport.request(replace(GET, timeout=3))
    (at, sent) = server.received[1]
    assert (at, sent.timeout) == (2, 1)


async def test_named_time_holds_for_every_later_call_to_the_same_place_and_for_no_other() -> None:
    server = Server(lambda call: ApiResponse(200) if monotonic() >= 7 else busy(seconds=7))
    transport, short = with_retries(server), ApiRequest("POST", "/api", timeout=5)
    assert (await transport.request(short)).status == 429
    await asyncio.sleep(1)
    refused = await transport.request(short)
    assert (refused.status, refused.headers["retry-after"]) == (429, "6")
    await asyncio.sleep(3)
    assert (await transport.request(short)).status == 200
    await transport.request(ApiRequest("POST", "/apis"))
    assert [at for at, _ in server.received] == [0, pytest.approx(7, abs=0.5), monotonic()]


async def test_named_time_is_forgotten_once_it_has_passed() -> None:
    replies = [busy(seconds=7)]
    server = Server(lambda call: replies.pop() if replies else ApiResponse(200))
    transport = with_retries(server)
    assert (await transport.request(ApiRequest("POST", "/api", timeout=5))).status == 429
    await asyncio.sleep(7)
    assert (await transport.request(POST)).status == 200
    assert monotonic() == 7
