"""Each measured thing in a process of its own, so that none pays for what another imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import msgspec

# A process that was asked to stop and has not is killed after so long.
STOP_SECONDS = 20.0

T = TypeVar("T")


@contextmanager
def running(
    module: str, *arguments: str, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A module of this package, run for as long as the context lasts; its answers can be read."""
    child = subprocess.Popen(
        _command(module, *arguments),
        env=_environment(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        if child.stdout is not None:
            child.stdout.close()


def answer(module: str, *arguments: str, to: type[T], env: Mapping[str, str] | None = None) -> T:
    """What a module of this package prints as JSON, run to its end."""
    done = subprocess.run(
        _command(module, *arguments), env=_environment(env), stdout=subprocess.PIPE, check=True
    )
    return msgspec.json.decode(done.stdout, type=to)


def _command(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", f"benchmarks.{module}", *arguments]


def _environment(more: Mapping[str, str] | None) -> dict[str, str]:
    return {**os.environ, **(more or {})}
