"""A run that waits for a thread of its own waits for nothing outside, however busy the machine."""

import os
import sys
import threading

import pytest

from processes.running import running_command
from quintant.die_with_parent import die_with_parent
from quintant.testing.explore.simulation.real_time import MOST_SECONDS, RealTimeGuard

SPIN = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
print("begun", flush=True)
while True:
    pass
"""
NUMBERS = 40_000_000
"""To add: more than a second of work."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what threads wait for")
def test_a_thread_that_shares_its_core_with_another_program_is_no_wait_for_something_outside() -> (
    None
):
    core = min(os.sched_getaffinity(0))
    done, seen = threading.Event(), threading.Event()

    def work() -> None:
        os.sched_setaffinity(0, {core})  # of this thread
        sum(range(NUMBERS))
        done.set()
        seen.wait()

    command = die_with_parent([sys.executable, "-c", SPIN, str(core)])
    with running_command(command) as spinning:
        assert spinning.stdout is not None
        spinning.stdout.readline()
        guard, thread = RealTimeGuard(), threading.Thread(target=work)
        thread.start()
        done.wait()
        waited = guard.waited()
        seen.set()
        thread.join()
    assert waited < MOST_SECONDS
