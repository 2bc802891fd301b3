"""Checks side by side: most of them only wait for a real server, so several processes share them.

`make conformance` loads this plug-in (`-p conformance.lanes`); without it pytest runs every check
itself, one after the other. The checks are dealt to lanes, each with servers of its own. Pytest's
own process runs the first lane. Every other is run by a child with the same arguments, which tells
its reports line by line in a file; they are taken for reports of our own, so that there is one
verdict and one table, and the run fails if a check was not told of.
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
from envtest.process import Child

MOST = {"embedded": 3, "real": 2, "controllers": 2, "given": 1}
"""Into how many lanes the checks of a server are dealt: those that wait longest into most, and
those of a cluster that was given to us into one, where they would be in each other's way."""
WORTH = 25
"""Checks for which another server is worth its start."""
POLL_SECONDS = 0.1
LAST = "teardown"
"""What every check is told of at its end, however it went."""
VERDICTS = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lanes")
    group.addoption("--lane", type=int, default=0, help="run the checks of this lane only")
    group.addoption("--tell", type=Path, help="the file for reports of a lane")


def pytest_configure(config: pytest.Config) -> None:
    path: Path | None = config.getoption("tell")
    config.pluginmanager.register(Teller(config, path) if path else Leader(config))


def server(item: pytest.Item, environ: Mapping[str, str]) -> str:
    """What a check needs, in the words of MOST."""
    callspec = getattr(item, "callspec", None)
    if callspec and "embedded" in callspec.params.values():
        return "embedded"
    if disposable(environ):
        return "given"
    fixtures = getattr(item, "fixturenames", ())
    return "controllers" if {"realm", "workshop"} & set(fixtures) else "real"


def dealt(
    items: Sequence[pytest.Item], environ: Mapping[str, str] = os.environ
) -> list[list[pytest.Item]]:
    """The checks of every lane: neighbours, which often wait alike, go to different ones."""
    needing: dict[str, list[pytest.Item]] = {}
    for item in items:
        needing.setdefault(server(item, environ), []).append(item)
    lanes: list[list[pytest.Item]] = []
    for name, found in needing.items():
        count = min(MOST[name], -(-len(found) // WORTH))
        lanes += (found[first::count] for first in range(count))
    return lanes


class Teller:
    """Runs one lane in a child, and writes its reports down."""

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self._config = config
        self._path = path

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = dealt(items)[self._config.getoption("lane")]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self._config.hook
        told = hook.pytest_report_to_serializable(config=self._config, report=report)
        with self._path.open("a") as file:
            file.write(f"{json.dumps(told)}\n")


class Lane:
    """A child with its checks, as its parent sees it."""

    def __init__(self, config: pytest.Config, number: int, checks: set[str], folder: Path) -> None:
        self._number = number
        self._missing = checks
        self._told = folder / f"{number}.json"
        self._told.touch()
        self._read = 0
        options = (f"--lane={number}", f"--tell={self._told}", f"--basetemp={folder / str(number)}")
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
        """Why the lane, which has ended, is not to be believed; empty if it is."""
        if self.child.code in VERDICTS and not self._missing:
            return ""
        return (
            f"lane {self._number} ended with code {self.child.code} and did not tell of "
            f"{len(self._missing)} checks; the last lines of it:\n{self.child.tail()}"
        )


class Leader:
    """Runs the first lane, has the others run, and speaks for all."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._dealt: list[list[pytest.Item]] = []
        self._lanes: list[Lane] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if items and not self._config.option.collectonly:
            self._dealt = dealt(items)
            items[:] = self._dealt[0]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="quintant-lanes-")))
            for number, items in enumerate(self._dealt[1:], start=1):
                checks = {item.nodeid for item in items}
                self._lanes.append(Lane(self._config, number, checks, folder))
                stack.callback(self._lanes[-1].child.stop)
            session.testscollected = sum(map(len, self._dealt)) or session.testscollected
            done = yield
            self._await(session)
            return done

    def pytest_runtest_logstart(self) -> None:
        self._hear()

    def _await(self, session: pytest.Session) -> None:
        """Hear the other lanes to their end."""
        while any(lane.child.code is None for lane in self._lanes):
            self._hear()
            if session.shouldfail or session.shouldstop:
                return
            time.sleep(POLL_SECONDS)
        self._hear()
        if faults := "\n".join(filter(None, (lane.fault() for lane in self._lanes))):
            raise session.Interrupted(faults)

    def _hear(self) -> None:
        hook = self._config.hook
        for lane in self._lanes:
            for told in lane.news():
                report = hook.pytest_report_from_serializable(config=self._config, data=told)
                hook.pytest_runtest_logreport(report=report)
                if report.when == LAST:
                    hook.pytest_runtest_logfinish(nodeid=report.nodeid, location=report.location)
