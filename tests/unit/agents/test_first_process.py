from __future__ import annotations

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, os, signal, sys
from quintant.agents.first_process import end_on_sigterm
from quintant.agents.loops import loop_factory

async def wait():
    asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGTERM)
    await asyncio.Event().wait()

end_on_sigterm(int(sys.argv[1]))
with asyncio.Runner(loop_factory=loop_factory()) as runner:
    runner.run(wait())
"""


@pytest.mark.parametrize(("pid", "code"), [(1, 143), (7, -signal.SIGTERM)])
def test_sigterm_ends_the_first_process_of_a_container_like_any_other(pid: int, code: int) -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM, str(pid)], check=False)
    assert ended.returncode == code
