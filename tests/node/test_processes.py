"""Programs of this machine: started, signalled, waited for, with nothing left behind."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, SIGTERM

import pytest

from node.node_fixture import marked, vanished
from quintant.cluster.kubelet.container.exec_hooks import LimitedOutput
from quintant.cluster.kubelet.process.orphans import CONTAINER
from quintant.cluster.kubelet.process.processes import BURST_BYTES, PAUSE_SECONDS, LocalProcesses
from quintant.cluster.kubelet.process.protocols import Launch, ProgramNotFound, StartError
from quintant.core.clock import monotonic

pytestmark = pytest.mark.loops


def python(code: str, folder: Path) -> Launch:
    """A program of a few lines."""
    return Launch((sys.executable, "-u", "-c", code), folder, {CONTAINER: f"test-{id(folder)}"})


async def test_exit_code_and_output_are_those_of_the_program(tmp_path: Path) -> None:
    output = LimitedOutput()
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"
    process = await LocalProcesses().start(python(code, tmp_path), output)
    assert await process.ended() == 7
    assert sorted(output.text.split()) == ["err", "out"]


@pytest.mark.parametrize("number", [SIGTERM, SIGKILL])
async def test_a_signal_is_a_negative_code(tmp_path: Path, number: int) -> None:
    process = await LocalProcesses().start(
        python("import time; time.sleep(60)", tmp_path), LimitedOutput()
    )
    process.signal(number)
    assert await process.ended() == -number


async def test_nothing_is_inherited_but_what_was_given(tmp_path: Path) -> None:
    output = LimitedOutput()
    code = "import os; print(sorted(os.environ), os.getcwd())"
    await (await LocalProcesses().start(python(code, tmp_path), output)).ended()
    assert CONTAINER in output.text
    assert "HOME" not in output.text
    assert output.text.endswith(str(tmp_path))


@pytest.mark.parametrize("apart", [True, False])
async def test_who_outlives_the_program_is_ended_and_does_not_hold_its_output(
    tmp_path: Path, apart: bool
) -> None:
    output = LimitedOutput()
    code = (
        "import subprocess;"
        f"print(subprocess.Popen(['sleep', '600'], start_new_session={apart}).pid)"
    )
    process = await LocalProcesses().start(python(code, tmp_path), output)
    assert await process.ended() == 0
    await vanished(int(output.text))


class Counter:
    """Counts what is printed."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, stream: str, data: bytes) -> None:
        self.size += len(data)

    def close(self) -> None:
        """Nothing to let go of."""


async def test_nothing_of_a_flood_is_lost_and_the_loop_is_not_drowned_in_it(tmp_path: Path) -> None:
    size, output = 3 * BURST_BYTES + 17, Counter()
    code = f"import sys; sys.stdout.write('x' * {size})"
    began = monotonic()
    assert await (await LocalProcesses().start(python(code, tmp_path), output)).ended() == 0
    assert output.size == size
    assert monotonic() - began > 2 * PAUSE_SECONDS, "it had to wait for the others"


def pipes() -> set[str]:
    """The pipes and sockets that this process has open."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.add(str(entry.readlink()))
    return {each for each in found if each.startswith(("pipe:", "socket:"))}


async def begun_and_given_up(turns: int, folder: Path) -> bool:
    """Cancel a start after so many turns of the loop; whether that was before its end."""
    launch = python("import time; time.sleep(30)", folder)
    starting = asyncio.ensure_future(LocalProcesses().start(launch, LimitedOutput()))
    for _ in range(turns):
        await asyncio.sleep(0)
    given_up = starting.cancel()
    with suppress(asyncio.CancelledError):
        process = await starting
        process.signal(SIGKILL)
        await process.ended()
    return given_up


async def test_a_start_that_is_given_up_leaves_neither_program_nor_pipe(tmp_path: Path) -> None:
    await begun_and_given_up(1000, tmp_path)  # what watches over children is open from now on
    before, turns = pipes(), 0
    while await begun_and_given_up(turns, tmp_path):
        turns += 1
    assert turns > 1, "there was a moment to give up in"
    await vanished(*marked(f"{CONTAINER}=test-{id(tmp_path)}"))
    await asyncio.sleep(0)
    assert pipes() == before


async def test_whoever_gives_up_waiting_for_an_end_has_no_pipe_left(tmp_path: Path) -> None:
    await begun_and_given_up(1000, tmp_path)  # what watches over children is open from now on
    before = pipes()
    launch = python("import time; time.sleep(30)", tmp_path)
    process = await LocalProcesses().start(launch, LimitedOutput())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await process.ended()
    for _ in range(3):
        await asyncio.sleep(0)
    assert pipes() == before
    process.signal(SIGKILL)
    assert await process.ended() == -SIGKILL


async def test_what_cannot_be_run_says_why(tmp_path: Path) -> None:
    output = LimitedOutput()
    process = await LocalProcesses().start(Launch((str(tmp_path),), tmp_path, {}), output)
    assert await process.ended() == 126
    assert "Permission denied" in output.text


async def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    launch = Launch((sys.executable,), tmp_path / "nowhere", {})
    with pytest.raises((ProgramNotFound, StartError)):
        await LocalProcesses().start(launch, LimitedOutput())
