"""One round: start on what the last one left, check it against the ledger, load it, kill it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from crashtest.ledger import Ledger
from crashtest.load import read, resumes, watch, write
from crashtest.victim import Victim, started

LOAD_SECONDS = (0.1, 1.0)
"""How long a server lives under load: at random, so that it dies anywhere."""


@dataclass(frozen=True, slots=True)
class Round:
    """What came of a round."""

    number: int
    acknowledged: int
    """Writes answered before the kill."""
    wrong: tuple[str, ...]
    """What the restarted server had lost, torn or undone."""


async def crashtest(
    folder: Path, rounds: int, writers: int, random: Random
) -> AsyncIterator[Round]:
    """Kill a server on a folder so many times; each round ends with a check after the restart."""
    ledger, answered = Ledger(), 0
    for number in range(rounds + 1):
        async with started(folder) as victim:
            wrong = await _checked(victim, ledger, restarted=number > 0)
            if number:
                yield Round(number, answered, tuple(wrong))
            if number < rounds:
                before = ledger.acknowledged
                await _load(victim, ledger, writers, random)
                answered = ledger.acknowledged - before


async def _checked(victim: Victim, ledger: Ledger, *, restarted: bool) -> list[str]:
    before = ledger.revision
    wrong = ledger.check(*await read(victim.transport))
    if restarted and await resumes(victim.transport, before):
        wrong.append(f"a watch from revision {before} went on as if nothing had happened")
    return wrong


async def _load(victim: Victim, ledger: Ledger, writers: int, random: Random) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(watch(victim.transport, ledger))
        for writer in range(writers):
            own = Random(random.random())
            group.create_task(write(victim.transport, ledger, writer, own))
        await asyncio.sleep(random.uniform(*LOAD_SECONDS))
        await victim.kill()
