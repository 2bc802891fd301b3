"""Python environments for programs that are not installed for development, in the cache.

An environment is made in a folder of its own and appears under its name by a rename, when it is
whole: whoever finds it there may use it, and an interrupted one is made anew.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from envtest.binaries import cache_folder
from envtest.errors import Report, announce

_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


class CannotInstall(Exception):
    """An environment could not be made; the text is the last thing pip said."""


def provide_environment(
    requirement: str, environ: Mapping[str, str], *, report: Report = announce
) -> Path:
    """Return the Python of an environment with one pinned package; make it where it is missing."""
    folder = cache_folder(environ) / "interop" / f"python{_VERSION}-{requirement}"
    if not folder.exists():
        report(f"installing {requirement} into {folder}")
        _make(folder, requirement)
    return folder / "bin" / "python"


def _make(folder: Path, requirement: str) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
    try:
        # Only `bin/python` is used afterwards, which does not mind the rename.
        _run(sys.executable, "-m", "venv", str(unfinished))
        pip = (str(unfinished / "bin" / "python"), "-m", "pip", "install", "--quiet")
        _run(*pip, "--disable-pip-version-check", requirement)
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotInstall((done.stderr.strip().splitlines() or ["it said nothing"])[-1])
