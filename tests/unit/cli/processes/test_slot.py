from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from structlog.testing import capture_logs

from quintant.cli.processes.process_metrics import ProcessMetrics
from quintant.cli.processes.slot import ChildActions, ChildSlot
from quintant.metrics import Registry
from quintant.testing.loop import advance, settle
from unit.cli.processes.scripted_child import ScriptedChild


class Machine:
    """Where children are started and buried."""

    def __init__(self) -> None:
        self.lives: list[ScriptedChild] = []
        self.buried: list[str] = []
        self.full = False
        self.starting = asyncio.Event()
        self.starting.set()
        self.metrics = ProcessMetrics(["0"])
        self.slot = ChildSlot(0, ChildActions(self._start, self._bury), self.metrics)

    def sample(self, name: str) -> float | None:
        return Registry((self.metrics,)).value(name, {"process": "0"})

    async def _start(self, number: int) -> ScriptedChild:
        await self.starting.wait()
        if self.full:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        self.lives.append(ScriptedChild(len(self.lives)))
        return self.lives[-1]

    async def _bury(self, identity: str) -> None:
        self.buried.append(identity)


@asynccontextmanager
async def a_machine() -> AsyncIterator[tuple[Machine, asyncio.Task[None]]]:
    machine = Machine()
    async with asyncio.TaskGroup() as group:
        kept = group.create_task(machine.slot.keep(group))
        asking = group.create_task(machine.slot.ask())
        await settle()
        yield machine, kept
        asking.cancel()
        kept.cancel()


async def test_who_ends_is_buried_and_started_again_later_each_time() -> None:
    async with a_machine() as (machine, _):
        for number, wait in enumerate((1, 2, 4, 8, 16, 30, 30)):
            machine.lives[-1].code.set_result(1)
            await advance(wait - 0.1)
            assert len(machine.lives) == number + 1
            await advance(0.2)
            assert len(machine.lives) == number + 2
        assert machine.buried == [f"host_{number}" for number in range(7)]
        assert machine.sample("quintant_process_restarts_total") == 7


async def test_the_log_says_how_it_ended_and_what_it_said_last() -> None:
    async with a_machine() as (machine, _):
        with capture_logs() as logs:
            machine.lives[0].code.set_result(-9)
            await settle()
    (line,) = [line for line in logs if line["event"] == "process ended"]
    assert (line["how"], line["last_lines"]) == ("by signal 9", ["the last line"])


async def test_a_child_that_cannot_be_started_is_tried_again() -> None:
    async with a_machine() as (machine, _):
        machine.full = True
        machine.lives[0].code.set_result(1)
        await advance(1.5)
        view = machine.slot.view()
        assert not view.runs
        assert "Resource temporarily unavailable" in view.ended
        machine.full = False
        await advance(2)
        assert machine.slot.view().runs
        assert machine.buried == ["host_0"]


async def test_a_stop_is_passed_on_and_ends_with_the_child() -> None:
    async with a_machine() as (machine, kept):
        machine.slot.stop()
        assert machine.lives[0].asked_to_stop
        await advance(5)
        assert not kept.done()
        machine.lives[0].code.set_result(0)
        await settle()
        assert kept.done()
        assert machine.slot.code == 0
        assert (len(machine.lives), machine.buried) == (1, [])


async def test_a_stop_between_two_lives_begins_none() -> None:
    async with a_machine() as (machine, kept):
        machine.lives[0].code.set_result(1)
        await settle()
        machine.slot.stop()
        await advance(60)
        assert kept.done()
        assert len(machine.lives) == 1


async def test_a_stop_while_a_child_is_started_reaches_it() -> None:
    async with a_machine() as (machine, kept):
        machine.starting.clear()
        machine.lives[0].code.set_result(1)
        await advance(1.1)
        machine.slot.stop()
        machine.starting.set()
        await settle()
        assert machine.lives[1].asked_to_stop
        machine.lives[1].code.set_result(0)
        await settle()
        assert kept.done()


async def test_a_child_is_killed_with_the_task_that_keeps_it() -> None:
    async with a_machine() as (machine, kept):
        kept.cancel()
        await settle()
        assert machine.lives[0].killed


async def test_what_a_child_says_of_itself_is_known_within_a_second() -> None:
    async with a_machine() as (machine, _):
        await advance(1.1)
        ready = machine.slot.view().ready
        assert ready is not None
        assert ready.ok
        assert machine.sample("quintant_process_up") == 1

        machine.lives[0].answer = (500, b"[-]pods failed: 403")
        await advance(1.1)
        ready = machine.slot.view().ready
        assert ready is not None
        assert not ready.ok
        assert await machine.slot.get("/metrics") is None

        machine.lives[0].answer = None
        await advance(1.1)
        assert machine.sample("quintant_process_up") == 0
        assert await machine.slot.get("/metrics") is None
