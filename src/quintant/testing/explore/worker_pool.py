"""Runs spread over the cores: a few worker processes, each given a run when it has made one."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

import msgspec

from quintant.testing.explore.worker import WorkOrder, WorkResult, make

# Seconds that a worker has for its end when nobody wants anything of it any more.
END_SECONDS = 10.0


class WorkerPool:
    """Makes runs in worker processes, or with one job in this process."""

    def __init__(self, jobs: int) -> None:
        self._workers = [_Worker() for _ in range(jobs)] if jobs > 1 else []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            worker.end()

    def make(self, orders: Sequence[WorkOrder]) -> Iterator[tuple[WorkOrder, WorkResult]]:
        """Make runs, and yield what came of each, in the order in which they end.

        Whoever stops iterating stops the rest of the runs.
        """
        if not self._workers:
            yield from ((order, make(order)) for order in orders)
            return
        left, done = deque(orders), queue.SimpleQueue[tuple[WorkOrder, WorkResult]]()
        threads = [
            threading.Thread(target=worker.work, args=(left, done)) for worker in self._workers
        ]
        for thread in threads:
            thread.start()
        try:
            for _ in orders:
                yield done.get()
        finally:
            left.clear()
            for thread in threads:
                thread.join()


class _Worker:
    """One worker process."""

    def __init__(self) -> None:
        paths = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "quintant.testing.explore.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths},
        )

    def work(
        self, left: deque[WorkOrder], done: queue.SimpleQueue[tuple[WorkOrder, WorkResult]]
    ) -> None:
        """Have orders carried out until there are none."""
        while True:
            try:
                order = left.popleft()
            except IndexError:
                return
            done.put((order, self._ask(order)))

    def _ask(self, order: WorkOrder) -> WorkResult:
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None, "it is a pipe"
        assert answers is not None, "it is a pipe"
        try:
            requests.write(msgspec.json.encode(order) + b"\n")
            requests.flush()
            line = answers.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            return WorkResult(error=f"the worker that made {order.token} has ended")
        return msgspec.json.decode(line, type=WorkResult)

    def end(self) -> None:
        """Let the process end."""
        assert self._process.stdin is not None, "it is a pipe"
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
