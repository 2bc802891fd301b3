"""Checks side by side: most of them only wait for a real server, so several processes share them.

`make conformance` loads this plug-in (`-p conformance.workers`); without it pytest runs every check
itself, one after the other. The checks are assigned to workers, each with servers of its own.
Pytest's own process is the first worker. Every other is a child with the same arguments, which
writes its reports line by line to a file; they are taken for reports of our own, so that there is
one verdict and one table, and the run fails if a check was not reported.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from envtest.existing import disposable
from foreign.process import Child

MOST = {"embedded": 3, "real": 2, "controllers": 2, "given": 1}
"""How many workers share the checks of a server: those that wait longest have most, and
those of a cluster that was given to us have one, where they would be in each other's way."""
WORTH = 25
"""Checks for which another server is worth its start."""
POLL_SECONDS = 0.1
LAST = "teardown"
"""What every check is told of at its end, however it went."""
VERDICTS = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("workers")
    group.addoption("--worker", type=int, default=0, help="run the checks of this worker only")
    group.addoption("--reports", type=Path, help="the file for the reports of a worker")


def pytest_configure(config: pytest.Config) -> None:
    path: Path | None = config.getoption("reports")
    config.pluginmanager.register(ReportWriter(config, path) if path else Coordinator(config))


def server(item: pytest.Item, environ: Mapping[str, str]) -> str:
    """What a check needs, in the words of MOST."""
    callspec = getattr(item, "callspec", None)
    if callspec and "embedded" in callspec.params.values():
        return "embedded"
    if disposable(environ):
        return "given"
    fixtures = getattr(item, "fixturenames", ())
    return "controllers" if {"secured", "cluster"} & set(fixtures) else "real"


def assigned(
    items: Sequence[pytest.Item], environ: Mapping[str, str] = os.environ
) -> list[list[pytest.Item]]:
    """The checks of every worker: neighbours, which often wait alike, go to different ones."""
    needing: dict[str, list[pytest.Item]] = {}
    for item in items:
        needing.setdefault(server(item, environ), []).append(item)
    workers: list[list[pytest.Item]] = []
    for name, found in needing.items():
        count = min(MOST[name], -(-len(found) // WORTH))
        workers += (found[first::count] for first in range(count))
    return workers


class ReportWriter:
    """The worker in a child: runs its share, and writes its reports down."""

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self._config = config
        self._path = path

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = assigned(items)[self._config.getoption("worker")]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self._config.hook
        told = hook.pytest_report_to_serializable(config=self._config, report=report)
        with self._path.open("a") as file:
            file.write(f"{json.dumps(told)}\n")


class Worker:
    """A child with its checks, as its parent sees it."""

    def __init__(self, config: pytest.Config, number: int, checks: set[str], folder: Path) -> None:
        self._number = number
        self._missing = checks
        self._told = folder / f"{number}.json"
        self._told.touch()
        self._read = 0
        options = (
            f"--worker={number}",
            f"--reports={self._told}",
            f"--basetemp={folder / str(number)}",
        )
        command = (sys.executable, "-m", "pytest", *config.invocation_params.args, *options)
        self.child = Child(command, folder / f"{number}.log")

    def news(self) -> Iterator[dict[str, object]]:
        """The reports since last time."""
        with self._told.open() as file:
            file.seek(self._read)
            while (line := file.readline()).endswith("\n"):
                self._read = file.tell()
                told = json.loads(line)
                if told["when"] == LAST:
                    self._missing.discard(told["nodeid"])
                yield told

    def fault(self) -> str:
        """Why the worker, which has ended, is not to be believed; empty if it is."""
        if self.child.code in VERDICTS and not self._missing:
            return ""
        return (
            f"worker {self._number} ended with code {self.child.code} and did not report "
            f"{len(self._missing)} checks; the last lines of it:\n{self.child.tail()}"
        )


class Coordinator:
    """The first worker: starts the others, and reports for all."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._assigned: list[list[pytest.Item]] = []
        self._lanes: list[Worker] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if items and not self._config.option.collectonly:
            self._assigned = assigned(items)
            items[:] = self._assigned[0]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="quintant-workers-")))
            for number, items in enumerate(self._assigned[1:], start=1):
                checks = {item.nodeid for item in items}
                self._lanes.append(Worker(self._config, number, checks, folder))
                stack.callback(self._lanes[-1].child.stop)
            session.testscollected = sum(map(len, self._assigned)) or session.testscollected
            done = yield
            self._await(session)
            return done

    def pytest_runtest_logstart(self) -> None:
        self._hear()

    def _await(self, session: pytest.Session) -> None:
        """Hear the other workers to their end."""
        while any(worker.child.code is None for worker in self._lanes):
            self._hear()
            if session.shouldfail or session.shouldstop:
                return
            time.sleep(POLL_SECONDS)
        self._hear()
        if faults := "\n".join(filter(None, (worker.fault() for worker in self._lanes))):
            raise session.Interrupted(faults)

    def _hear(self) -> None:
        hook = self._config.hook
        for worker in self._lanes:
            for told in worker.news():
                report = hook.pytest_report_from_serializable(config=self._config, data=told)
                hook.pytest_runtest_logreport(report=report)
                if report.when == LAST:
                    hook.pytest_runtest_logfinish(nodeid=report.nodeid, location=report.location)
