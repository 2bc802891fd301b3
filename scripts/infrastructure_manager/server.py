"""`InfrastructureManager`: IM as a child process, with everything it keeps in one folder.

A kill and a new start find what was kept; what is not stopped ends with its parent. Start it from a
thread that outlives it (`foreign.process`): pytest's main thread does.
"""

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from foreign.catalogue import IM
from foreign.errors import Report, announce
from foreign.probe import Probe
from foreign.process import LOOPBACK, Child, free_ports
from infrastructure_manager.faults import DummyFaults, Ledger

HERE = Path(__file__).parent

# It takes two seconds, seven if the disk is cold; a loaded machine may need many times that.
START_SECONDS = 120.0
POLL_SECONDS = 0.1


class InfrastructureManager:
    """IM for the length of a with statement, at `url`.

    `settings` are IM's own, by their names, over those that `inside` has: `USER_DB` names a file of
    the users that are let in (`write_users`), `BOOT_MODE=1` lets nobody change anything.
    """

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, str | int | bool] | None = None,
        *,
        port: int = 0,
        environ: Mapping[str, str] = os.environ,
        report: Report = announce,
    ) -> None:
        self.folder = folder
        self.port = port or free_ports(1)[0]
        self._settings = dict(settings or {})
        self._environ, self._report = environ, report
        self._child: Child | None = None

    @property
    def url(self) -> str:
        """Where its REST API is."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def pid(self) -> int:
        """The process; RuntimeError if there is none."""
        return self._running().pid

    def __enter__(self) -> Self:
        self.launch()
        try:
            self.wait_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def launch(self) -> None:
        """Start it and return at once; it is installed first where it is missing."""
        if self._child is not None:
            raise RuntimeError("Infrastructure Manager runs already")
        self.folder.mkdir(parents=True, exist_ok=True)
        python = IM.provide(self._environ, report=self._report)
        given = (f"{name}={value}" for name, value in self._settings.items())
        # Isolated: neither our packages nor the variables of our Python are theirs.
        script = (str(python), "-I", str(HERE / "inside.py"))
        line = (*script, str(self.folder), str(self.port), *given)
        self._child = Child(line, self.folder / "output.log")

    def wait_ready(self, within: float = START_SECONDS) -> None:
        """Return when it answers; raise, with the end of its log, if it ends or takes too long."""
        probe, deadline = Probe(self.url, ("/version",)), time.monotonic() + within
        while not probe.ready():
            self._running().check()
            if time.monotonic() > deadline:
                raise self._running().failure(f"it does not answer after {within:.0f} s")
            time.sleep(POLL_SECONDS)

    def check(self) -> None:
        """Raise, with the end of its log, if it has ended."""
        self._running().check()

    def stop(self) -> None:
        """End it, politely first; what it kept stays in the folder."""
        if self._child is not None:
            self._child.stop()
            self._child = None

    def kill(self) -> None:
        """End it as a power failure does."""
        os.kill(self.pid, signal.SIGKILL)
        self.stop()

    def set_faults(self, faults: DummyFaults = DummyFaults()) -> None:
        """Let the Dummy cloud have these faults from now on, and no others."""
        self.folder.mkdir(parents=True, exist_ok=True)
        faults.write(self.folder)

    @property
    def ledger(self) -> Ledger:
        """What the Dummy cloud did: machines that are still there when all is deleted leaked."""
        return Ledger.read(self.folder)

    def log(self) -> str:
        """What it logged."""
        path = self.folder / "im.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def _running(self) -> Child:
        if self._child is None:
            raise RuntimeError("Infrastructure Manager is not running")
        return self._child
