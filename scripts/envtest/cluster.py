"""`RealCluster`: etcd and kube-apiserver; kube-controller-manager and kube-scheduler if asked for.

Whatever `start` began, `stop` ends, in the opposite order, and a start that fails ends it too:
no process and no folder is left. Where the user offers a disposable cluster (`existing`),
nothing is started and nothing is stopped.
"""

import os
import secrets
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from envtest import binaries, flags
from envtest.access import Access, kubeconfig, private_key, token_line, write_secret
from envtest.build import provide
from envtest.existing import disposable, existing
from envtest.flags import Layout
from foreign.errors import announce
from foreign.probe import Probe
from foreign.process import Child, scratch

# Both are ready within about three seconds; a loaded machine may need many times that.
START_SECONDS = 120.0
POLL_SECONDS = 0.05
PROGRESS_SECONDS = 5.0

# Ready is not enough: the server makes the namespace `default` a moment later.
READY_PATHS = ("/readyz", "/api/v1/namespaces/default")
CONTROLLERS_READY_PATHS = ("/api/v1/namespaces/default/serviceaccounts/default",)


class RealCluster:
    """A real control plane for the length of a with statement.

    `etcd`, `apiserver` and `manager` are further flags of the three programs, as in
    `RealCluster(apiserver=("--min-request-timeout=5",))`; a disposable cluster of the user's
    takes none of them. `controllers` adds kube-controller-manager: without it there are no
    service accounts, and pods are admitted without one. `scheduler` adds kube-scheduler. Pass
    `environ={**os.environ, "QUINTANT_DISPOSABLE": ""}` to insist on a cluster of our own, as a
    benchmark must.
    """

    def __init__(
        self,
        *,
        controllers: bool = False,
        scheduler: bool = False,
        etcd: Sequence[str] = (),
        apiserver: Sequence[str] = (),
        manager: Sequence[str] = (),
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._controllers, self._scheduler = controllers, scheduler
        self._etcd = tuple(etcd)
        self._apiserver = tuple(apiserver)
        self._manager = tuple(manager)
        self._environ = environ
        self._children: dict[str, Child] = {}
        self._access: Access | None = None
        self._store = ""
        self._layout: tuple[Path, Layout] | None = None
        self._stack = ExitStack()

    @property
    def access(self) -> Access:
        """How to reach the cluster, while it runs."""
        if self._access is None:
            raise RuntimeError("the cluster is not running: use it in a with statement")
        return self._access

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return self.access.server

    @property
    def token(self) -> str:
        """The bearer token of a cluster administrator."""
        return self.access.token

    @property
    def ca(self) -> Path:
        """The file with the authority of the server's certificate."""
        return self.access.ca

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.access.kubeconfig

    @property
    def store(self) -> str:
        """The URL of etcd for its clients; empty for a cluster that we did not start."""
        return self._store

    @property
    def pids(self) -> dict[str, int]:
        """The pid of each program by its name; empty for a cluster that we did not start."""
        return {name: child.pid for name, child in self._children.items()}

    def start(self) -> Self:
        """Start the cluster and wait until it is ready; one that runs is replaced."""
        self.stop()
        try:
            self._begin()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End every program that was started and remove their files; safe to call twice."""
        self._stack.close()

    def restart_server(self) -> None:
        """End the API server and start it again over the same store, and at the same address."""
        if self._layout is None:
            raise RuntimeError("a cluster that was not started here is not restarted")
        self._children.pop(binaries.APISERVER).stop()
        self._run_server(*self._layout, self.access)

    def check(self) -> None:
        """Raise if a program of the cluster has ended."""
        for child in self._children.values():
            child.check()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _begin(self) -> None:
        self._stack.callback(self._forget)
        folder = self._stack.enter_context(scratch(Path(tempfile.gettempdir())))
        if disposable(self._environ):
            self._access = existing(self._environ, folder)
        else:
            self._access = self._launch(folder)

    def _launch(self, folder: Path) -> Access:
        needed = [*binaries.PAIR]
        needed += [binaries.MANAGER] if self._controllers else []
        needed += [binaries.SCHEDULER] if self._scheduler else []
        programs = provide(self._environ, needed)
        # Ports are chosen last: the call above may build for minutes.
        layout = Layout.choose(folder)
        access = Access(layout.server, secrets.token_hex(16), layout.ca, layout.kubeconfig)

        self._layout = programs, layout
        self._run_store(programs, layout)
        self._store = layout.store
        self._run_server(programs, layout, access)
        if self._controllers:
            self._run_manager(programs, layout, access)
        if self._scheduler:
            self._run_scheduler(programs, layout, access)
        return access

    def _run_store(self, programs: Path, layout: Layout) -> None:
        self._run(
            (str(programs / binaries.STORE), *flags.etcd(layout), *self._etcd),
            log=layout.folder / "etcd.log",
            probe=Probe(layout.store, ("/health",)),
        )

    def _run_server(self, programs: Path, layout: Layout, access: Access) -> None:
        write_secret(layout.tokens, token_line(access.token))
        write_secret(layout.key, private_key())
        chosen = flags.apiserver(layout, controllers=self._controllers)
        self._run(
            (str(programs / binaries.APISERVER), *chosen, *self._apiserver),
            log=layout.folder / "apiserver.log",
            probe=Probe(access.server, READY_PATHS, access.token, access.ca),
        )
        document = kubeconfig(access.server, access.token, access.ca.read_bytes())
        write_secret(access.kubeconfig, document)

    def _run_manager(self, programs: Path, layout: Layout, access: Access) -> None:
        self._run(
            (str(programs / binaries.MANAGER), *flags.manager(layout), *self._manager),
            log=layout.folder / "manager.log",
            probe=Probe(access.server, CONTROLLERS_READY_PATHS, access.token, access.ca),
        )

    def _run_scheduler(self, programs: Path, layout: Layout, access: Access) -> None:
        # It answers nobody, and waits for pods as soon as it runs.
        self._run(
            (str(programs / binaries.SCHEDULER), *flags.scheduler(layout)),
            log=layout.folder / "scheduler.log",
            probe=Probe(access.server, READY_PATHS, access.token, access.ca),
        )

    def _run(self, command: Sequence[str], *, log: Path, probe: Probe) -> None:
        child = Child(command, log)
        self._stack.callback(child.stop)
        self._children[child.name] = child

        started = reported = time.monotonic()
        while not probe.ready():
            self.check()
            now = time.monotonic()
            if now - started >= START_SECONDS:
                raise child.failure(f"it is not ready after {START_SECONDS:.0f} s")
            if now - reported >= PROGRESS_SECONDS:
                announce(f"waiting for {child.name} to be ready: {now - started:.0f} s")
                reported = now
            time.sleep(POLL_SECONDS)

    def _forget(self) -> None:
        self._children.clear()
        self._access, self._layout = None, None
        self._store = ""
