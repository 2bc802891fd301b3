from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil

from realcluster.left_behind import descendants, left_behind

NO_CGROUP = "quintant-test-left-behind"


def test_a_folder_and_a_process_that_stayed_are_named(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        processes = [each for each in descendants() if each.pid == child.pid]
        left = left_behind(tmp_path, processes, NO_CGROUP)
        assert left == (f"folder {tmp_path}", f"process {child.pid}")


def test_of_a_cluster_that_is_gone_nothing_is_named(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = psutil.Process(child.pid)
    child.communicate()
    assert left_behind(tmp_path / "state", [process], NO_CGROUP) == ()


def test_a_process_that_nobody_reaped_holds_nothing(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        process = psutil.Process(child.pid)
        assert left_behind(tmp_path / "state", [process], NO_CGROUP) == ()


def test_what_is_mounted_below_the_folder_is_named() -> None:
    folder = Path("/proc")
    assert any(each.startswith("mount /proc") for each in left_behind(folder, (), NO_CGROUP))
