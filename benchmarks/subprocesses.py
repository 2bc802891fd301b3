"""Each measured thing in a process of its own, so that none pays for what another imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TypeVar

import msgspec

from processes.running import running_command

T = TypeVar("T")


def running(
    module: str, *arguments: str, env: Mapping[str, str] | None = None
) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """A module of this package, run for as long as the context lasts; its answers can be read."""
    return running_command(module_command(module, *arguments), env=env)


def answer(module: str, *arguments: str, to: type[T], env: Mapping[str, str] | None = None) -> T:
    """What a module of this package prints as JSON, run to its end."""
    done = subprocess.run(
        module_command(module, *arguments),
        env=_environment(env),
        stdout=subprocess.PIPE,
        check=True,
    )
    return msgspec.json.decode(done.stdout, type=to)


def module_command(module: str, *arguments: str) -> list[str]:
    """What runs a module of this package."""
    return [sys.executable, "-m", f"benchmarks.{module}", *arguments]


def _environment(more: Mapping[str, str] | None) -> dict[str, str]:
    return {**os.environ, **(more or {})}
