"""A life of a program ends with all that it started, and its command line is checked before."""

from __future__ import annotations

import asyncio
import glob
import os
import shutil
import tempfile
from pathlib import Path

import psutil
import pytest

import patience
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.kubelet.process.orphans import process_mark
from quintant.core.errors import ConfigError
from quintant.keys.sensitive import Sensitive
from quintant.testing.explore.foreign.program import (
    PREFIX,
    ForeignCommand,
    ProgramLife,
    remove_leftovers,
)

STARTS = """
sleep 600 & setsid sleep 600 & (setsid sh -c 'sleep 600 & sleep 600' &)
trap '' TERM; echo started; cat "$KUBECONFIG"; wait; sleep 600
"""

CHAIN = """
if [ $1 -gt 0 ]; then setsid sh "$0" $(($1 - 1)) & else echo up; fi
exec sleep 600
"""
"""Each is the parent of the next, which becomes another's when it is killed."""


async def send(life: ProgramLife, call: ApiRequest) -> ApiResponse:
    return ApiResponse(200)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("sh -c 'x", "No closing quotation"),
        ("./absent", "there is no program ./absent"),
        ("sh {config}", "{config} is neither"),
    ],
)
def test_a_command_that_cannot_be_run_is_an_error(text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why.replace("{", r"\{")):
        ForeignCommand.parse(text)


def test_a_life_has_its_kubeconfig_and_ports_of_its_own() -> None:
    command = ForeignCommand.parse(
        "sh --kubeconfig {kubeconfig} --a :{port:a} --b {port:a},{port:b}"
    )
    assert command.names_ports
    _, _, path, _, first, _, both = command.line(Path("/x"))
    assert path == "/x"
    assert f":{both.split(',')[0]}" == first
    assert command.line(Path("/x"))[4] != first or both.split(",")[0] != both.split(",")[1]


def test_the_program_behind_env_and_its_variables_is_the_one_that_is_run() -> None:
    found = shutil.which("sh")
    for text in ("sh -c true", "env sh", "env A={kubeconfig} B=c sh --d=e"):
        assert str(ForeignCommand.parse(text).program) == found
    assert ForeignCommand.parse("env A=b").program.name == "env"


@pytest.mark.realtime
async def test_nothing_that_a_life_started_is_left_when_it_is_killed() -> None:
    life = ProgramLife(0, send)
    await life.start(ForeignCommand(("sh", "-c", STARTS)), Sensitive(b"way in\n"), {})
    ended = asyncio.ensure_future(life.ended.wait())
    async with patience.within(20):
        while "way in" not in life.output:
            await asyncio.wait({ended}, timeout=0.05)
    (keeper,) = [each for each in psutil.Process().children() if is_keeper(each)]
    started = keeper.children(recursive=True)
    assert len(started) >= 5
    await life.end()
    await ended
    assert life.code is None
    assert psutil.wait_procs(started, timeout=patience.seconds(10))[1] == []
    assert glob.glob(f"{tempfile.gettempdir()}/{PREFIX}{os.getpid()}-*") == []


@pytest.mark.realtime
async def test_who_is_born_into_sessions_of_their_own_while_others_are_killed_is_killed_too(
    tmp_path: Path,
) -> None:
    script = tmp_path / "chain"
    script.write_text(CHAIN)
    life = ProgramLife(0, send)
    await life.start(ForeignCommand(("sh", str(script), "40")), Sensitive(b""), {})
    ended = asyncio.ensure_future(life.ended.wait())
    async with patience.within(60):
        while "up" not in life.output:
            await asyncio.wait({ended}, timeout=0.05)
        await life.end()


@pytest.mark.realtime
async def test_the_code_of_a_life_that_ends_by_itself_is_known() -> None:
    life = ProgramLife(0, send)
    await life.start(ForeignCommand(("sh", "-c", "echo out of luck; exit 3")), Sensitive(b""), {})
    await life.ended.wait()
    assert (life.code, life.alive, life.last_lines()) == (3, False, "out of luck")
    await life.end()


def test_folders_of_who_was_killed_are_removed(tmp_path: Path) -> None:
    namespace = process_mark().rpartition("-")[2]
    dead, mine = tmp_path / f"{PREFIX}999999999-1-{namespace}-abc", tmp_path / "other"
    dead.mkdir()
    (dead / "kubeconfig").write_text("")
    mine.mkdir()
    remove_leftovers(tmp_path)
    assert (dead.exists(), mine.exists()) == (not Path("/proc/self").exists(), True)


def is_keeper(process: psutil.Process) -> bool:
    return any(word.endswith("keeper.py") for word in process.cmdline())
