"""What a cluster made on this machine, written down before it is used, so that it can be removed.

A run that was killed leaves its record; the next one removes what it names and nothing else. A
process is named with the moment it began, since pids are given out again.
"""

import contextlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from realcluster.nodes import cgroups

END_SECONDS = 10.0


@dataclass(frozen=True)
class Record:
    """A file with a line per thing."""

    file: Path

    def process(self, pid: int, name: str) -> None:
        """A process of ours."""
        self._add({"process": pid, "began": psutil.Process(pid).create_time(), "name": name})

    def cgroup(self, folder: Path) -> None:
        """A cgroup of ours; those below it are, too."""
        self._add({"cgroup": str(folder)})

    def folder(self, folder: Path) -> None:
        """A folder of ours."""
        self._add({"folder": str(folder)})

    def remove_all(self) -> tuple[str, ...]:
        """End and remove everything that is named; what could not be removed is returned."""
        entries = tuple(self._entries())
        _end([(entry["process"], entry["began"]) for entry in entries if "process" in entry])
        made = [Path(entry["cgroup"]) for entry in entries if "cgroup" in entry]
        left = [str(each) for each in made if not cgroups.remove(each)]
        for entry in entries:
            if "folder" in entry:
                shutil.rmtree(entry["folder"], ignore_errors=True)
        if not left:
            self.file.unlink(missing_ok=True)
        return tuple(left)

    def _add(self, entry: dict[str, Any]) -> None:
        with self.file.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def _entries(self) -> Iterator[dict[str, Any]]:
        if not self.file.exists():
            return
        for line in self.file.read_text().splitlines():
            # The last line may be cut: its thing was not made yet.
            with contextlib.suppress(json.JSONDecodeError):
                yield json.loads(line)


def _end(processes: list[tuple[int, float]]) -> None:
    """Kill those that are still the same, and wait until they are gone."""
    found = []
    for pid, began in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            if process.create_time() == began:
                process.kill()
                found.append(process)
    psutil.wait_procs(found, END_SECONDS)
