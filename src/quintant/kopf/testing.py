"""`kopf.testing`: an operator of a file, run beside a test, as `kopf run` runs it.

The operator has a thread and a loop of its own. What it logs is in `output`, and goes wherever the
test's own log goes.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, Literal, Self

import click
from click.testing import CliRunner, Result
from msgspec import Struct, field

from quintant.kopf.declare.registry import OperatorRegistry, set_default_registry
from quintant.kopf.declare.settings import OperatorSettings
from quintant.kopf.public import operator
from quintant.runtime.manager.loading import load

DEVELOPMENT_PRIORITY = 666
LINE = "[%(asctime)s] %(name)-20.20s [%(levelname)-8.8s] %(message)s"


class _Controls(Struct):
    """What a test says that has no option."""

    registry: OperatorRegistry | None = None
    settings: OperatorSettings | None = None
    stop: threading.Event = field(default_factory=threading.Event)


@click.group(name="kopf", context_settings={"auto_envvar_prefix": "KOPF"})
def main() -> None:
    """Only `run` is here."""


@main.command()
@click.option("--all-namespaces", "-A", "clusterwide", is_flag=True)
@click.option("--namespace", "-n", "namespaces", multiple=True)
@click.option("--standalone", is_flag=True, default=None)
@click.option("--dev", is_flag=True)
@click.option("--liveness", "-L", "liveness_endpoint")
@click.option("--peering", "-P", "peering_name", envvar="KOPF_RUN_PEERING")
@click.option("--priority", "-p", type=int)
@click.option("--module", "-m", "modules", multiple=True)
@click.option("--verbose", "-v", is_flag=True)
@click.option("--debug", "-d", is_flag=True)
@click.option("--quiet", "-q", is_flag=True)
@click.option("--log-format", type=click.Choice(["plain", "full"]), default="full")
@click.argument("paths", nargs=-1)
@click.pass_obj
def run(
    controls: _Controls,
    /,
    paths: tuple[str, ...],
    modules: tuple[str, ...],
    *,
    dev: bool,
    priority: int | None,
    verbose: bool,
    debug: bool,
    quiet: bool,
    log_format: str,
    **options: Any,
) -> None:
    """Serve the handlers of files and modules until the test ends."""
    if options["namespaces"] and options["clusterwide"]:
        raise click.UsageError("--namespace and --all-namespaces exclude each other")
    if controls.registry is not None:
        set_default_registry(controls.registry)
    level = logging.DEBUG if debug or verbose else logging.WARNING if quiet else logging.INFO
    with _logged(level, LINE if log_format == "full" else "%(message)s", everything=debug):
        for target in (*paths, *modules):
            load(target)
        work = operator(
            registry=controls.registry,
            settings=controls.settings,
            stop_flag=controls.stop,
            priority=DEVELOPMENT_PRIORITY if dev else priority,
            **options,
        )
        with asyncio.Runner() as runner:
            runner.run(work)


@contextmanager
def _logged(level: int, line: str, *, everything: bool) -> Iterator[None]:
    """Have what is logged meanwhile on stderr, too: that of other libraries from INFO on."""
    root, ours = logging.getLogger(), logging.getLogger("kopf")
    before = root.level, ours.level
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(line))
    root.addHandler(handler)
    root.setLevel(level if everything else max(level, logging.INFO))
    ours.setLevel(level)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before[0])
        ours.setLevel(before[1])


class KopfRunner(AbstractContextManager["KopfRunner"]):
    """An operator while a `with` lasts, and afterwards what came of it."""

    def __init__(
        self,
        *args: Any,
        reraise: bool = True,
        timeout: float | None = None,
        registry: OperatorRegistry | None = None,
        settings: OperatorSettings | None = None,
        **kwargs: Any,
    ) -> None:
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs
        self.reraise: bool = reraise
        self.timeout: float | None = timeout
        self.registry: OperatorRegistry | None = registry
        self.settings: OperatorSettings | None = settings
        self.future: Future[Result] = Future()
        self._controls = _Controls(registry, settings)
        self._thread = threading.Thread(target=self._run, name="kopf")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> Literal[False]:
        self._controls.stop.set()
        self._thread.join(self.timeout)
        if self._thread.is_alive():
            raise TimeoutError(f"the operator did not end within {self.timeout} s")
        failed = self.future.exception() or (self.exception if self.reraise else None)
        if failed is not None:
            raise failed from error
        return False

    def _run(self) -> None:
        try:
            result = CliRunner().invoke(main, *self.args, obj=self._controls, **self.kwargs)
        except BaseException as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)

    @property
    def output(self) -> str:
        """Everything that was written and logged."""
        return self.future.result().output

    @property
    def stdout(self) -> str:
        return self.future.result().stdout

    @property
    def stdout_bytes(self) -> bytes:
        return self.future.result().stdout_bytes

    @property
    def stderr(self) -> str:
        return self.future.result().stderr

    @property
    def stderr_bytes(self) -> bytes:
        return self.future.result().stderr_bytes or b""

    @property
    def exit_code(self) -> int:
        return self.future.result().exit_code

    @property
    def exception(self) -> BaseException | None:
        """What ended it, if it was not the test."""
        return self.future.result().exception

    @property
    def exc_info(self) -> tuple[type[BaseException], BaseException, TracebackType] | None:
        return self.future.result().exc_info


__all__ = ["KopfRunner"]
