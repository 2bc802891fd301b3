from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prometheus_client.parser import text_string_to_metric_families

from quintant.cli.processes.parent import STOP_SECONDS, Parent
from quintant.cli.processes.slot import ChildActions
from quintant.testing.loop import advance, settle
from unit.cli.processes.scripted_child import ScriptedChild

GRACE = 10.0


class Family:
    """A parent of two children, and its end."""

    def __init__(self) -> None:
        self.children: list[ScriptedChild] = []
        self.parent = Parent(2, ChildActions(self._start, self._bury), GRACE, ["orders"])
        self.task = asyncio.create_task(self.parent.run("", ""))

    async def _start(self, number: int) -> ScriptedChild:
        self.children.append(ScriptedChild(len(self.children)))
        return self.children[-1]

    async def _bury(self, identity: str) -> None: ...


@asynccontextmanager
async def a_family() -> AsyncIterator[Family]:
    family = Family()
    await settle()
    try:
        yield family
    finally:
        family.task.cancel()
        await settle()
        family.task.cancel()
        await asyncio.wait({family.task})


async def test_series_of_all_processes_are_one_exposition_and_who_is_silent_is_left_out() -> None:
    async with a_family() as family:
        for number, child in enumerate(family.children):
            child.answer = (200, b"# TYPE done_total counter\ndone_total %d\n" % (number + 1))
        await advance(1.1)
        families = text_string_to_metric_families((await family.parent.render()).decode())
        samples = {(s.name, s.labels.get("process")): s.value for f in families for s in f.samples}
        assert (samples["done_total", "0"], samples["done_total", "1"]) == (1, 2)
        assert samples["quintant_process_up", "1"] == 1

        family.children[1].answer = None
        await advance(1.1)
        assert b'done_total{process="1"}' not in await family.parent.render()
        assert b'quintant_process_up{process="1"} 0' in await family.parent.render()


async def test_a_stop_waits_for_children_and_knows_whether_all_ended_well() -> None:
    for codes, well in (((0, 0), True), ((0, 1), False)):
        async with a_family() as family:
            family.task.cancel()
            await advance(1)
            assert all(child.asked_to_stop for child in family.children)
            assert not family.task.done()
            for child, code in zip(family.children, codes, strict=True):
                child.code.set_result(code)
            await settle()
            assert family.task.cancelled()
            assert family.parent.stopped_in_order is well


async def test_children_that_do_not_stop_in_time_are_killed() -> None:
    async with a_family() as family:
        family.task.cancel()
        await advance(GRACE + STOP_SECONDS + 1)
        assert family.task.done()
        assert all(child.killed for child in family.children)


async def test_a_second_stop_kills_at_once() -> None:
    async with a_family() as family:
        family.task.cancel()
        await advance(1)
        family.task.cancel()
        await settle()
        assert family.task.done()
        assert all(child.killed for child in family.children)
        assert not family.parent.stopped_in_order
