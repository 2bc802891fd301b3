"""What is wanted is followed, news wake their key, and silence is not taken for old news."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from structlog.testing import capture_logs

from quintant.core.clock import monotonic
from quintant.core.object import Request
from quintant.runtime.source.follower import Follower, Pace, Unreachable
from quintant.testing import advance, settle
from unit.runtime.controller.running_source import running, woken

A, B = Request("a", "ns"), Request("b", "ns")


class Device:
    """Something outside that says what a test lets it say; None hangs up."""

    def __init__(self) -> None:
        self.words: asyncio.Queue[str | None] = asyncio.Queue()
        self.calls: list[float] = []
        self.open: list[str] = []
        self.broken: BaseException | None = None

    async def __call__(self, address: str) -> AsyncGenerator[str, None]:
        self.calls.append(monotonic())
        if self.broken is not None:
            raise self.broken
        self.open.append(address)
        try:
            while (word := await self.words.get()) is not None:
                yield word
        finally:
            self.open.remove(address)


async def test_news_wake_the_key_and_repetition_does_not() -> None:
    device = Device()
    follower = Follower(device)
    async with running(follower) as queue:
        assert follower.want(A, {"x": "10.0.0.1"}) == {}
        device.words.put_nowait("on")
        assert await woken(queue) == [A]
        assert follower.want(A, {"x": "10.0.0.1"}) == {"x": "on"}
        device.words.put_nowait("on")
        assert await woken(queue) == []
        device.words.put_nowait("off")
        assert await woken(queue) == [A]
        assert follower.want(A, {"x": "10.0.0.1"}) == {"x": "off"}


async def test_what_is_the_same_is_for_the_user_to_say() -> None:
    device = Device()
    follower = Follower(device, same=lambda one, other: one[0] == other[0])
    async with running(follower) as queue:
        follower.want(A, {"x": "10.0.0.1"})
        device.words.put_nowait("on 1")
        assert await woken(queue) == [A]
        device.words.put_nowait("on 2")
        assert await woken(queue) == []
        assert follower.want(A, {"x": "10.0.0.1"}) == {"x": "on 1"}


async def test_conversations_end_when_nobody_wants_them_and_with_the_follower() -> None:
    device = Device()
    follower = Follower(device)
    async with running(follower):
        follower.want(A, {"x": "1", "y": "2"})
        follower.want(B, {"x": "3"})
        await settle()
        assert sorted(device.open) == ["1", "2", "3"]
        follower.want(A, {"y": "2"})
        await settle()
        assert sorted(device.open) == ["2", "3"]
        follower.forget(A)
        await settle()
        assert device.open == ["3"]
    assert device.open == []


async def test_target_that_moved_is_followed_anew_and_its_old_news_is_forgotten() -> None:
    device = Device()
    follower = Follower(device)
    async with running(follower) as queue:
        follower.want(A, {"x": "1"})
        device.words.put_nowait("on")
        assert await woken(queue) == [A]
        assert follower.want(A, {"x": "2"}) == {}
        await settle()
        assert device.open == ["2"]


async def test_target_wanted_and_dropped_at_once_is_never_called() -> None:
    device = Device()
    follower = Follower(device)
    async with running(follower):
        await settle()
        follower.want(A, {"x": "1"})
        follower.forget(A)
        await settle()
        assert device.calls == []


@pytest.mark.parametrize("error", [Unreachable("away"), ConnectionRefusedError(), TimeoutError()])
async def test_lost_target_is_forgotten_once_it_cannot_be_reached(error: Exception) -> None:
    device = Device()
    follower = Follower(device)
    async with running(follower) as queue:
        follower.want(A, {"x": "1"})
        device.words.put_nowait("on")
        assert await woken(queue) == [A]
        device.broken = error
        device.words.put_nowait(None)
        await settle()
        assert follower.want(A, {"x": "1"}) == {"x": "on"}
        await advance(2)
        assert await woken(queue) == [A]
        assert follower.want(A, {"x": "1"}) == {}


async def test_silent_target_is_tried_ever_more_rarely() -> None:
    device = Device()
    device.broken = Unreachable("away")
    follower = Follower(device)
    async with running(follower):
        follower.want(A, {"x": "1"})
        await advance(120)
    gaps = [after - before for before, after in zip(device.calls, device.calls[1:], strict=False)]
    assert 0.8 <= gaps[0] <= 1.2
    assert all(12 <= gap <= 18 for gap in gaps[5:])


async def test_target_that_comes_up_is_tried_at_once() -> None:
    device = Device()
    device.broken = Unreachable("away")
    follower = Follower(device)
    async with running(follower):
        follower.want(A, {"x": "1"})
        await advance(100)
        device.broken, tried = None, len(device.calls)
        follower.want(A, {"x": "1"}, ready={"x"})
        await settle()
        assert len(device.calls) == tried + 1


async def test_a_question_and_its_answer_make_a_poller() -> None:
    asked: list[float] = []

    async def ask(address: str) -> AsyncGenerator[str, None]:
        asked.append(monotonic())
        yield f"load {len(asked)}"

    follower = Follower(ask, pace=Pace(first=10.0, cap=60.0, jitter=0.0))
    async with running(follower) as queue:
        follower.want(A, {"x": "1"})
        await advance(35)
        assert asked == [0.0, 10.0, 20.0, 30.0]
        assert await woken(queue) == [A]
        assert follower.want(A, {"x": "1"}) == {"x": "load 4"}


class Meter:
    """A question that is asked again and again, over one connection."""

    def __init__(self) -> None:
        self.calls, self.connections = list[float](), 0

    async def __call__(self, address: str) -> AsyncGenerator[str, None]:
        self.connections += 1
        while True:
            self.calls.append(monotonic())
            await asyncio.sleep(1)
            yield f"load {len(self.calls)}"


async def test_next_word_is_asked_for_after_the_pause_and_over_the_same_connection() -> None:
    meter = Meter()
    follower = Follower(meter, pace=Pace(every=10.0))
    async with running(follower) as queue:
        follower.want(A, {"x": "1"})
        await advance(30)
        assert (meter.calls, meter.connections) == ([0.0, 11.0, 22.0], 1)
        assert await woken(queue) == [A]
        assert follower.want(A, {"x": "1"}) == {"x": "load 3"}


async def test_pause_between_words_is_the_targets_own() -> None:
    meter = Meter()
    follower = Follower(meter, pace=Pace(every=lambda address: float(address)))
    async with running(follower):
        follower.want(A, {"x": "2"})
        await advance(6.5)
        assert meter.calls == [0.0, 3.0, 6.0]


async def test_target_that_comes_up_is_asked_at_once_between_two_words() -> None:
    meter = Meter()
    follower = Follower(meter, pace=Pace(every=10.0))
    async with running(follower):
        follower.want(A, {"x": "1", "y": "2"}, ready={"y"})
        await advance(5)
        assert meter.calls == [0.0, 0.0]
        follower.want(A, {"x": "1", "y": "2"}, ready={"x", "y"})
        follower.want(A, {"x": "1", "y": "2"}, ready={"x", "y"})
        await advance(1)
        assert meter.calls == [0.0, 0.0, 5.0]
        await advance(6)
        assert meter.calls == [0.0, 0.0, 5.0, 11.0]


async def test_target_that_comes_up_while_it_is_asked_is_asked_next_when_it_is_time() -> None:
    meter = Meter()
    follower = Follower(meter, pace=Pace(every=10.0))
    async with running(follower):
        follower.want(A, {"x": "1"})
        await advance(0.5)
        follower.want(A, {"x": "1"}, ready={"x"})
        await advance(11)
        assert meter.calls == [0.0, 11.0]


async def test_pause_between_words_ends_with_the_conversation() -> None:
    meter = Meter()
    follower = Follower(meter, pace=Pace(every=10.0))
    async with running(follower):
        follower.want(A, {"x": "1"})
        await advance(5)
        follower.forget(A)
        await advance(20)
        assert meter.calls == [0.0]


async def test_only_so_many_wait_for_their_first_word_at_once() -> None:
    device = Device()
    follower = Follower(device, pace=Pace(opening=2))
    async with running(follower):
        follower.want(A, {str(number): str(number) for number in range(5)})
        await settle()
        assert len(device.open) == 2
        device.words.put_nowait("on")
        await settle()
        assert len(device.open) == 3


async def test_who_answers_and_says_nothing_is_given_up_for_now() -> None:
    device = Device()
    follower = Follower(device, pace=Pace(patience=5.0, opening=1))
    async with running(follower):
        follower.want(A, {"x": "1", "y": "2"})
        await settle()
        assert device.open == ["1"]
        await advance(5.5)
        assert device.open == ["2"]


async def test_first_word_is_awaited_for_a_while() -> None:
    device = Device()
    follower = Follower(device)
    async with running(follower):
        follower.want(A, {"x": "1"})
        assert follower.awaits_first_word(A, within=3.0)
        assert not follower.awaits_first_word(B, within=3.0)
        await advance(3)
        assert not follower.awaits_first_word(A, within=3.0)
        follower.want(A, {"x": "2"})
        assert follower.awaits_first_word(A, within=3.0)
        device.words.put_nowait("on")
        device.words.put_nowait("on")
        await settle()
        assert not follower.awaits_first_word(A, within=3.0)


async def test_follower_that_runs_again_follows_what_is_wanted() -> None:
    device = Device()
    follower = Follower(device)
    async with running(follower):
        follower.want(A, {"x": "1"})
        await settle()
    assert device.open == []
    async with running(follower):
        await settle()
        assert device.open == ["1"]


@pytest.mark.parametrize(
    "error",
    [RecursionError("deep"), KeyError("x"), ValueError("odd"), MemoryError(), AssertionError(),
     asyncio.CancelledError(), ExceptionGroup("both", [ValueError("1"), OSError("2")])],
)  # fmt: skip
async def test_whatever_a_conversation_raises_fails_that_conversation_alone(
    error: BaseException,
) -> None:
    device, liar = Device(), Device()
    liar.broken = error
    failures: list[None] = []

    def converse(address: str) -> AsyncGenerator[str, None]:
        return (liar if address == "liar" else device)(address)

    follower = Follower(converse)
    with capture_logs() as logs:
        async with running(follower, failed=lambda: failures.append(None)) as queue:
            follower.want(A, {"x": "liar"})
            follower.want(B, {"x": "1"})
            device.words.put_nowait("on")
            assert await woken(queue) == [B]
            await advance(100)
            assert 5 < len(liar.calls) == len(failures) < 15, "ever more rarely"
            device.words.put_nowait("off")
            assert await woken(queue) == [B]
            liar.broken = None
            liar.words.put_nowait("on")
            await advance(20)
            assert await woken(queue) == [A]
            assert follower.want(A, {"x": "liar"}) == {"x": "on"}
    assert [each["target"] for each in logs if each["log_level"] == "error"] == ["x"]


async def test_a_conversation_of_which_a_part_raises_fails_that_conversation_alone() -> None:
    device = Device()
    device.broken = ValueError("odd")

    async def parted(address: str) -> AsyncGenerator[str, None]:
        async with asyncio.TaskGroup() as parts:
            parts.create_task(anext(device(address)))
        async for word in device(address):
            yield word

    follower = Follower(parted)
    async with running(follower) as queue:
        follower.want(A, {"x": "1"})
        await advance(100)
        assert 5 < len(device.calls) < 15, "ever more rarely"
        device.broken = None
        for word in ("on", "on"):
            device.words.put_nowait(word)
        await advance(20)
        assert await woken(queue) == [A]


async def test_a_reader_of_words_that_raises_fails_its_conversation_alone() -> None:
    device = Device()

    def same(one: str, other: str) -> bool:
        raise RecursionError

    follower = Follower(device, same=same)
    async with running(follower) as queue:
        follower.want(A, {"x": "1"})
        device.words.put_nowait("on")
        assert await woken(queue) == [A]
        device.words.put_nowait("off")
        await advance(5)
        assert len(device.calls) == 2
