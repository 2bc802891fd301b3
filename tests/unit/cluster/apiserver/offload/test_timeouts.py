"""How long a request may take."""

from __future__ import annotations

import asyncio

import pytest

from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.offload.timeouts import (
    LONGEST_SECONDS,
    RequestTimeout,
    TooManyInFlight,
    in_time,
    timeout_seconds,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("", LONGEST_SECONDS),
        ("1m30s", LONGEST_SECONDS),
        ("10s", 10.0),
        ("+1.5s", 1.5),
        (".5m", 30.0),
        ("250ms", 0.25),
        ("1s5ms", 1.005),
        ("0", LONGEST_SECONDS),
        ("0s", LONGEST_SECONDS),
        ("-1s", LONGEST_SECONDS),
        ("9" * 400 + "h", LONGEST_SECONDS),
    ],
)
def test_a_request_may_take_as_long_as_it_says_up_to_a_minute(text: str, seconds: float) -> None:
    assert timeout_seconds({"timeout": text}) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "why"), [("5", "missing unit in duration"), ("soon", "invalid duration")]
)
def test_a_timeout_that_is_no_duration_is_refused(text: str, why: str) -> None:
    with pytest.raises(StatusError, match=f'time: {why} "{text}"'):
        timeout_seconds({"timeout": text})


async def test_what_takes_longer_is_late_in_the_words_of_a_real_server() -> None:
    with pytest.raises(RequestTimeout) as caught:
        await in_time(asyncio.sleep(LONGEST_SECONDS + 1), LONGEST_SECONDS)

    assert caught.value.code == 504
    assert caught.value.headers["content-type"] == "text/plain; charset=utf-8"
    assert caught.value.encode() == (
        b'{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within '
        b'the allotted timeout","reason":"Timeout","details":{},"code":504}\n'
    )


async def test_somebody_elses_timeout_stays_what_it_is() -> None:
    async def late() -> None:
        await asyncio.sleep(1)
        raise TimeoutError

    with pytest.raises(TimeoutError) as caught:
        await in_time(late(), LONGEST_SECONDS)
    assert type(caught.value) is TimeoutError


def test_who_is_sent_away_is_told_when_to_come_again() -> None:
    assert TooManyInFlight().headers["retry-after"] == "1"
    assert TooManyInFlight().encode() == b"Too many requests, please try again later.\n"
    assert TooManyInFlight().status["code"] == 429
