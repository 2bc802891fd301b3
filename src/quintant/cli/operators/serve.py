"""Running a manager from the command line: what the flags of `run` and `operator` do."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from quintant.cli.operators.pod_files import require_pod_files, require_pod_kubeconfig
from quintant.cli.processes.child_settings import take_child_settings
from quintant.cli.processes.run import check_processes, run_child, run_parent
from quintant.client.config.config import Config
from quintant.client.rest import Rest
from quintant.runtime.leader.rival import warn_of_rival
from quintant.runtime.manager import install_crds as crds
from quintant.runtime.manager.environment import Environment, production_environment
from quintant.runtime.manager.loops import loop_factory
from quintant.runtime.manager.manager import Manager
from quintant.runtime.observe import logs

Work = Callable[[Manager, Environment], Awaitable[int]]
"""What is done with a manager; what it returns is the exit code of the process."""


def serve(
    load: Callable[[], Manager],
    *,
    kubeconfig: Path | None,
    context: str | None,
    install_crds: bool,
    log_level: logs.Level,
    log_format: logs.Format,
    processes: str | None,
    **changes: Any,
) -> None:
    """Serve a manager until a signal says to stop, and end the process."""

    def find() -> Config:
        require_pod_kubeconfig(kubeconfig)
        return Config.load(kubeconfig, context=context) if kubeconfig else Config.discover(context)

    child = take_child_settings(os.environ)
    if child is not None:
        name = {"process": str(child.number)}
        logs.configure(format=child.log_format, level=log_level, values=name)
        serve_at(load, find, partial(run_child, child), **changes)
        return
    logs.configure(format=log_format, level=log_level)
    if processes is None:
        serve_at(load, find, install_crds=install_crds, **changes)
        return

    def load_sharded() -> Manager:
        manager = load()
        check_processes(manager, processes)
        return manager

    work = partial(run_parent, processes, log_format)
    serve_at(load_sharded, find, work, install_crds=install_crds, **changes)


def serve_at(
    load: Callable[[], Manager],
    find: Callable[[], Config],
    work: Work = Manager.main,
    *,
    install_crds: bool = False,
    **changes: Any,
) -> None:
    """Serve a manager at the cluster that `find` finds, and end the process."""
    manager = load()
    elects = manager.settings.leader_elect
    manager.configure(**{name: value for name, value in changes.items() if _given(value)})
    config, alone = find(), elects and not manager.settings.leader_elect
    require_pod_files(config, manager.settings.certificates)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        sys.exit(runner.run(_serve(manager, config, work, install_crds, alone)))


async def _serve(
    manager: Manager, config: Config, work: Work, install_crds: bool, alone: bool
) -> int:
    """Serve it; `alone` says that it should compete for a lease, and an option forbids it."""
    settings = manager.settings
    environment = production_environment(config, service=settings.name)
    try:
        if alone:
            namespace = settings.lease_namespace or environment.namespace
            rest = Rest(environment.transport)
            await warn_of_rival(rest, settings.name, namespace, environment.clock)
        if install_crds:
            await crds.install_manager_crds(environment.transport, manager, environment.namespace)
        return await work(manager, environment)
    finally:
        await environment.close()


def _given(value: Any) -> bool:
    return value is not None and value != ()
