"""The work queue: one slot per key, one worker per key, nothing lost, order kept."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from contextvars import Context
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar, TypeVarTuple, Unpack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from quintant.core.clock import monotonic
from quintant.runtime.workqueue.workqueue import LOW_PRIORITY, WorkItem, Workqueue
from quintant.testing.loop import VirtualLoop, advance, run, settle

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

KEYS = "abcde"
DELAYS = (0.0, 0.5, 1.0, 2.0, 30.0)
PRIORITIES = (LOW_PRIORITY, 0, 7)


async def take(queue: Workqueue[str]) -> str | None:
    """The key the queue hands out right now, or None when a worker would have to wait."""
    try:
        async with asyncio.timeout(0):
            lease = await queue.get()
    except TimeoutError:
        return None
    return lease.key if lease else None


async def take_all(queue: Workqueue[str]) -> list[str]:
    keys = []
    while key := await take(queue):
        keys.append(key)
    return keys


async def test_keys_come_out_in_the_order_they_were_added() -> None:
    queue: Workqueue[str] = Workqueue()
    for key in "cab":
        queue.add(key)
    assert await take_all(queue) == ["c", "a", "b"]


async def test_a_key_added_many_times_is_handed_out_once() -> None:
    queue: Workqueue[str] = Workqueue()
    for _ in range(5):
        queue.add("a")
    assert await take_all(queue) == ["a"]


async def test_higher_priority_overtakes_and_the_lease_names_it() -> None:
    queue: Workqueue[str] = Workqueue()
    queue.add("resync", priority=LOW_PRIORITY)
    queue.add("live")
    assert await queue.get() == WorkItem("live", 0)
    assert await queue.get() == WorkItem("resync", LOW_PRIORITY)


async def test_raised_priority_goes_to_the_end_of_its_new_level() -> None:
    queue: Workqueue[str] = Workqueue()
    queue.add("a", priority=LOW_PRIORITY)
    queue.add("b", priority=LOW_PRIORITY)
    queue.add("c")
    queue.add("a")
    assert await take_all(queue) == ["c", "a", "b"]


async def test_a_lower_priority_never_demotes_a_key() -> None:
    queue: Workqueue[str] = Workqueue()
    queue.add("a")
    queue.add("b")
    queue.add("a", priority=LOW_PRIORITY)
    assert await take_all(queue) == ["a", "b"]


async def test_a_delayed_key_comes_at_its_time() -> None:
    queue: Workqueue[str] = Workqueue()
    queue.add("a", after=10)
    assert await queue.get() == WorkItem("a", 0)
    assert monotonic() == 10.0


async def test_the_earlier_of_two_times_wins() -> None:
    queue: Workqueue[str] = Workqueue()
    queue.add("a", after=10)
    queue.add("a", after=3)
    queue.add("a", after=20)
    await queue.get()
    assert monotonic() == 3.0
    queue.done("a")
    await advance(60)
    assert await take(queue) is None


async def test_adding_a_waiting_key_now_forgets_its_timer() -> None:
    queue: Workqueue[str] = Workqueue()
    queue.add("a", after=10)
    queue.add("a")
    assert await take(queue) == "a"
    queue.done("a")
    assert (len(queue), queue.waiting_count(), queue.processing_count()) == (0, 0, 0)
    await advance(60)
    assert await take(queue) is None


async def test_however_many_keys_wait_there_is_one_timer_and_at_rest_none() -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    queue: Workqueue[str] = Workqueue()
    for key, after in (("a", 20), ("b", 10), ("c", 30), ("b", 5)):
        queue.add(key, after=after)
        assert loop.timers() == 1
    for key in "abc":
        assert loop.timers() == 1
        queue.add(key)
    assert loop.timers() == 0
    queue.add("d", after=10)
    queue.shut_down()
    assert loop.timers() == 0


async def test_keys_that_become_due_together_keep_the_order_of_their_times() -> None:
    queue: Workqueue[str] = Workqueue()
    queue.add("late", after=2)
    queue.add("early", after=1)
    queue.add("also early", after=1)
    await advance(5)
    queue.add("now")
    assert await take_all(queue) == ["early", "also early", "late", "now"]


async def test_a_key_due_before_an_add_stands_before_it_though_the_timer_is_late() -> None:
    queue: Workqueue[str] = Workqueue()
    # For the same moment as the queue's own timer, and before it in the loop.
    asyncio.get_running_loop().call_at(1.0, queue.add, "now")
    queue.add("due", after=1)
    await advance(2)
    assert await take_all(queue) == ["due", "now"]


async def test_a_key_added_while_it_is_worked_on_comes_again_when_done() -> None:
    queue: Workqueue[str] = Workqueue()
    queue.add("a")
    assert await take(queue) == "a"
    queue.add("a", priority=7)
    queue.add("a", priority=3)
    assert await take(queue) is None
    queue.done("a")
    assert await queue.get() == WorkItem("a", 7)
    queue.done("a")
    assert await take(queue) is None


async def test_a_key_added_for_later_while_it_is_worked_on_waits_for_its_time() -> None:
    queue: Workqueue[str] = Workqueue()
    queue.add("a")
    await queue.get()
    queue.add("a", after=10)
    queue.done("a")
    await queue.get()
    assert monotonic() == 10.0


async def test_a_change_during_work_beats_the_retry_asked_for_at_its_end() -> None:
    queue: Workqueue[str] = Workqueue()
    queue.add("a")
    await queue.get()
    queue.add("a")
    queue.add("a", after=1000)
    queue.done("a")
    assert await take(queue) == "a"


async def test_giving_back_what_was_not_leased_is_refused() -> None:
    queue: Workqueue[str] = Workqueue()
    queue.add("a")
    for key in ("a", "never added"):
        with pytest.raises(ValueError, match="without a lease"):
            queue.done(key)
    assert await take(queue) == "a"


async def test_shutdown_drops_the_rest_and_sends_every_worker_home() -> None:
    queue: Workqueue[str] = Workqueue()
    async with asyncio.TaskGroup() as group:
        workers = [group.create_task(queue.get()) for _ in range(3)]
        queue.add("a")
        await settle()
        queue.add("waiting", after=10)
        queue.shut_down()
    results = [worker.result() for worker in workers]
    assert results == [WorkItem("a", 0), None, None]
    queue.add("too late")
    queue.done("a")
    assert await queue.get() is None
    assert (len(queue), queue.waiting_count(), queue.processing_count()) == (0, 0, 0)


async def test_ready_and_dirty_keys_do_not_outlive_a_shutdown() -> None:
    queue: Workqueue[str] = Workqueue()
    queue.add("a")
    await queue.get()
    queue.add("a")
    queue.add("b")
    queue.shut_down()
    queue.done("a")
    assert await queue.get() is None
    assert len(queue) == 0


async def test_drain_waits_for_work_in_progress() -> None:
    queue: Workqueue[str] = Workqueue()
    await queue.drain()
    queue.add("a")
    queue.add("b")
    await queue.get()
    await queue.get()
    queue.shut_down()
    loop = asyncio.get_running_loop()
    loop.call_later(3, queue.done, "a")
    loop.call_later(5, queue.done, "b")
    await queue.drain()
    assert monotonic() == 5.0


async def test_a_worker_cancelled_at_its_turn_leaves_the_key_to_another() -> None:
    queue: Workqueue[str] = Workqueue()
    async with asyncio.TaskGroup() as group:
        first = group.create_task(queue.get())
        second = group.create_task(queue.get())
        await settle()
        queue.add("a")
        first.cancel()
    assert second.result() == WorkItem("a", 0)


async def test_a_worker_that_gives_up_waiting_takes_no_key_with_it() -> None:
    queue: Workqueue[str] = Workqueue()
    assert await take(queue) is None
    queue.add("a")
    assert await take(queue) == "a"


async def test_gauges_are_right_whenever_they_are_read() -> None:
    queue: Workqueue[str] = Workqueue()
    for key in "abc":
        queue.add(key)
    queue.add("d", priority=LOW_PRIORITY)
    queue.add("e", after=100)
    assert queue.longest_running_seconds() == 0.0
    await queue.get()
    await advance(2)
    await queue.get()
    await advance(3)
    assert (len(queue), queue.waiting_count(), queue.processing_count()) == (2, 1, 2)
    assert queue.depths() == {0: 1, LOW_PRIORITY: 1}
    assert queue.depth(0) == 1
    assert queue.depth(99) == 0
    assert queue.unfinished_seconds() == 5.0 + 3.0
    assert queue.longest_running_seconds() == 5.0


@dataclass
class RecordingObserver:
    """An observer that keeps what it hears."""

    adds: int = 0
    retries: int = 0
    queues: list[float] = field(default_factory=list)
    works: list[float] = field(default_factory=list)

    def added(self) -> None:
        self.adds += 1

    def retried(self) -> None:
        self.retries += 1

    def queued(self, seconds: float) -> None:
        self.queues.append(seconds)

    def worked(self, seconds: float) -> None:
        self.works.append(seconds)


async def test_an_observer_hears_adds_retries_and_durations() -> None:
    observer = RecordingObserver()
    queue: Workqueue[str] = Workqueue(observer)
    queue.add("a")
    queue.add("a", priority=7)
    queue.add("b", after=1)
    await advance(4)
    await queue.get()
    await queue.get()
    await advance(2)
    queue.done("a")
    await advance(1)
    queue.done("b")
    assert observer == RecordingObserver(adds=2, retries=1, queues=[4.0, 3.0], works=[2.0, 3.0])


class Early(VirtualLoop):
    """A loop that rings a moment early, as loops with coarse timers do."""

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return super().call_at(when - 1e-4, callback, *args, context=context)


def test_a_timer_that_rings_early_still_hands_out_its_key() -> None:
    async def main() -> None:
        observer = RecordingObserver()
        queue: Workqueue[str] = Workqueue(observer)
        queue.add("a", after=1)
        assert await queue.get() == WorkItem("a", 0)
        assert observer.queues == [0.0]

    with asyncio.Runner(loop_factory=Early) as runner:
        runner.run(main())


@dataclass
class Entry:
    """What the model knows of a queued key."""

    due: float
    priority: int
    arrival: int
    ready: bool = False


class QueueMachine(RuleBasedStateMachine):
    """The queue beside a naive model that sorts everything, every time."""

    @initialize()
    def start(self) -> None:
        self.runner = asyncio.Runner(loop_factory=VirtualLoop)
        self.queue: Workqueue[str] = Workqueue()
        self.entries: dict[str, Entry] = {}
        self.again: dict[str, Entry | None] = {}
        self.arrivals = 0

    @rule(
        key=st.sampled_from(KEYS),
        after=st.sampled_from(DELAYS),
        priority=st.sampled_from(PRIORITIES),
    )
    def add(self, key: str, after: float, priority: int) -> None:
        self._do(self._add(key, after, priority))

        entry = Entry(self.now + after, priority, self._arrive())
        if key in self.again:
            self.again[key] = self._merged(self.again[key], entry)
        else:
            self.entries[key] = self._merged(self.entries.get(key), entry)
        self._ripen()

    @rule()
    def get(self) -> None:
        expected = min(
            (key for key, entry in self.entries.items() if entry.ready),
            key=lambda key: (-self.entries[key].priority, self.entries[key].arrival),
            default=None,
        )
        assert self._do(take(self.queue)) == expected
        if expected is not None:
            del self.entries[expected]
            self.again[expected] = None

    @precondition(lambda self: self.again)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.again)))
        self._do(self._done(key))
        if entry := self.again.pop(key):
            entry.arrival = self._arrive()
            self.entries[key] = entry
        self._ripen()

    @rule(seconds=st.sampled_from((0.25, 0.5, 1.0, 60.0)))
    def wait(self, seconds: float) -> None:
        self._do(advance(seconds))
        self._ripen()

    @invariant()
    def counts_agree(self) -> None:
        ready = sum(entry.ready for entry in self.entries.values())
        assert len(self.queue) == ready
        assert self.queue.waiting_count() == len(self.entries) - ready
        assert self.queue.processing_count() == len(self.again)

    def teardown(self) -> None:
        self.runner.close()

    @property
    def now(self) -> float:
        return self.runner.get_loop().time()

    def _do(self, step: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(step)

    async def _add(self, key: str, after: float, priority: int) -> None:
        self.queue.add(key, after=after, priority=priority)

    async def _done(self, key: str) -> None:
        self.queue.done(key)

    def _arrive(self) -> int:
        self.arrivals += 1
        return self.arrivals

    def _merged(self, old: Entry | None, new: Entry) -> Entry:
        if old is None:
            return new
        raised = new.priority > old.priority if old.ready else new.due < old.due
        arrival = new.arrival if raised else old.arrival
        return Entry(min(old.due, new.due), max(old.priority, new.priority), arrival, old.ready)

    def _ripen(self) -> None:
        """Make ready what is due, in the order of times."""
        due = [e for e in self.entries.values() if not e.ready and e.due <= self.now]
        for entry in sorted(due, key=lambda entry: (entry.due, entry.arrival)):
            entry.ready, entry.arrival = True, self._arrive()


QueueMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestQueueAgainstTheModel = QueueMachine.TestCase


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), workers=st.integers(1, 5))
def test_no_key_is_with_two_workers_and_none_is_lost(seed: int, workers: int) -> None:
    run(_storm(Random(seed), workers))


async def _storm(random: Random, workers: int) -> None:
    """Random adds, works of random length, workers that die: each add is followed by a start."""
    queue: Workqueue[str] = Workqueue()
    steps = itertools.count()
    busy: set[str] = set()
    added: dict[str, int] = {}
    started: dict[str, int] = {}

    def start(key: str) -> None:
        assert key not in busy
        busy.add(key)
        started[key] = next(steps)

    def finish(key: str) -> None:
        busy.remove(key)
        queue.done(key)

    async def work() -> None:
        while lease := await queue.get():
            start(lease.key)
            await asyncio.sleep(random.choice((0, 0.01, 1)))
            finish(lease.key)

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(work())
        for _ in range(60):
            key, after = random.choice(KEYS), random.choice(DELAYS)
            queue.add(key, after=after, priority=random.choice(PRIORITIES))
            added[key] = next(steps)
            visitor = group.create_task(queue.get())
            await asyncio.sleep(random.choice((0, 0, 0.01, 0.7)))
            if not visitor.cancel() and (lease := visitor.result()):
                start(lease.key)
                finish(lease.key)
        await advance(1000)
        assert all(started[key] > step for key, step in added.items())
        assert (len(queue), queue.waiting_count(), queue.processing_count()) == (0, 0, 0)
        queue.shut_down()
