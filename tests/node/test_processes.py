"""Programs of this machine: started, signalled, waited for, with nothing left behind."""

from __future__ import annotations

import sys
from pathlib import Path
from signal import SIGKILL, SIGTERM

import pytest

from node.node_fixture import vanished
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


async def test_what_cannot_be_run_says_why(tmp_path: Path) -> None:
    output = LimitedOutput()
    process = await LocalProcesses().start(Launch((str(tmp_path),), tmp_path, {}), output)
    assert await process.ended() == 126
    assert "Permission denied" in output.text


async def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    launch = Launch((sys.executable,), tmp_path / "nowhere", {})
    with pytest.raises((ProgramNotFound, StartError)):
        await LocalProcesses().start(launch, LimitedOutput())
