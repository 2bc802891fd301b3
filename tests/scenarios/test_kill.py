"""kill -9 under load: a kept cluster comes back with everything it had promised."""

from __future__ import annotations

import resource
import sys
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from crashtest.ledger import GONE, Ledger, filled
from crashtest.load import Refused, read, write
from crashtest.rounds import crashtest
from crashtest.victim import started
from quintant.cluster.apiserver.storage.open_file import FILE

ROUNDS = 2
"""A tenth of `make crashtest`."""
WRITERS = 8
ROOM = 256 * 1024
"""Bytes that a disk has left: enough for a few writes."""


@pytest.mark.realtime
async def test_no_promise_is_broken_by_a_kill(tmp_path: Path) -> None:
    rounds = [done async for done in crashtest(tmp_path, ROUNDS, WRITERS, Random(0))]
    assert [done.wrong for done in rounds] == [()] * ROUNDS
    assert sum(done.acknowledged for done in rounds) > 0


@pytest.mark.realtime
@pytest.mark.skipif(sys.platform != "linux", reason="limits the files of a process that runs")
async def test_a_server_that_cannot_write_stops_and_loses_nothing(tmp_path: Path) -> None:
    ledger = Ledger()
    async with started(tmp_path) as victim:
        limit = (tmp_path / f"{FILE}-wal").stat().st_size + ROOM
        resource.prlimit(victim.process.pid, resource.RLIMIT_FSIZE, (limit, limit))
        with suppress(Refused):
            await write(victim.transport, ledger, 0, Random(0))
        assert victim.process.stderr is not None
        said = (await victim.process.stderr.read()).decode()
        assert await victim.process.wait() == 1
    what, because, hint = said.splitlines()[-3:]
    assert what == f"cannot write to {tmp_path / FILE}, stopping"
    assert because.startswith("because: ")
    assert hint.startswith("try: ")
    async with started(tmp_path) as victim:
        assert ledger.check(*await read(victim.transport)) == []
    assert ledger.acknowledged > 0


def written(*numbers: int) -> Ledger:
    """The ledger of an object that was brought into these states, all acknowledged."""
    ledger = Ledger()
    for revision, number in enumerate(numbers, 1):
        ledger.ask("a", number)
        ledger.acknowledge("a", revision)
    return ledger


def test_a_lost_write_is_noticed() -> None:
    assert written(1, 2).check({"a": filled(1)}, 9) == ["a: 1 instead of 2"]
    assert written(1).check({}, 9) == ["a: 0 instead of 1"]
    assert written(1, GONE).check({"a": filled(1)}, 9) == ["a: 1 instead of 0"]


def test_a_write_without_an_answer_may_have_happened_or_not() -> None:
    for number in (1, 2):
        ledger = written(1)
        ledger.ask("a", 2)
        assert ledger.check({"a": filled(number)}, 9) == []


def test_a_write_that_was_watched_must_have_happened() -> None:
    ledger = written(1)
    ledger.ask("a", 2)
    ledger.tell("a", 2, 2)
    assert ledger.check({"a": filled(1)}, 9) == ["a: 1 instead of 2"]
    ledger = written(1)
    ledger.ask("a", GONE)
    ledger.tell_gone("a", 1, 2)
    assert ledger.check({"a": filled(1)}, 9) == ["a: 1 instead of 0"]


def test_a_torn_object_is_noticed() -> None:
    assert written(1).check({"a": filled(2) | {"number": "1"}}, 9) == ["a: torn"]


def test_a_revision_from_the_past_is_noticed() -> None:
    assert written(1, 2).check({"a": filled(2)}, 2) == ["revision 2 after 2 had been seen"]
