"""The clock of a program that is linked dynamically, many times as fast as the machine's.

Python, Java, Rust and C ask libc for the time, and wait by it: a small library of ours (`pace.c`)
is preloaded, and made with the machine's own compiler when it is first needed. Go asks the kernel
itself, and runs in real time.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from quintant.core.errors import ConfigError
from quintant.testing.explore.foreign.paced_loop import PaceOrigin

USUAL_PACE = 30.0
"""Kopf's minute is two seconds then, and a request's few milliseconds are not yet a second."""
MOST_PACE = 100.0
COMPILE_SECONDS = 120.0
_SOURCE = Path(__file__).with_name("pace.c")
_SCRIPT = b"#!"
_ELF = b"\x7fELF"
_GO_MARK = b"\xff Go buildinf:"
"""What the Go linker writes into every program, near its beginning."""
_GO_BYTES = 64 * 1024 * 1024
_INTERPRETED = 4096


class ProgramKind(StrEnum):
    """What a program is made of, as far as its clock is concerned."""

    DYNAMIC = "linked dynamically"
    GO = "written in Go"
    STATIC = "linked statically"
    UNKNOWN = "of an unknown kind"


def program_kind(program: Path) -> ProgramKind:
    """What a file is; a script is what its interpreter is."""
    try:
        with program.open("rb") as file:
            head = file.read(_INTERPRETED)
            if head.startswith(_SCRIPT):
                return _interpreter_kind(head)
            if not head.startswith(_ELF):
                return ProgramKind.UNKNOWN
            rest = head + file.read(_GO_BYTES)
    except OSError:
        return ProgramKind.UNKNOWN
    if _GO_MARK in rest:
        return ProgramKind.GO
    return ProgramKind.DYNAMIC if b"ld-linux" in rest or b"ld-musl" in rest else ProgramKind.STATIC


def _interpreter_kind(head: bytes) -> ProgramKind:
    words = head[2:].partition(b"\n")[0].decode("utf-8", "replace").split()
    if words and Path(words[0]).name == "env" and len(words) > 1:
        words = [shutil.which(words[1]) or words[1]]
    if not words or not Path(words[0]).is_file():
        return ProgramKind.UNKNOWN
    with Path(words[0]).open("rb") as file:
        if file.read(2) == _SCRIPT:
            return ProgramKind.UNKNOWN
    return program_kind(Path(words[0]))


def clock_library(cache: Path) -> Path:
    """The library, made in a folder if it is not there; ConfigError without a compiler."""
    digest = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:16]
    made = cache / f"pace-{digest}.so"
    if made.exists():
        return made
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise _missing("there is no C compiler on this machine")
    cache.mkdir(parents=True, exist_ok=True)
    draft = cache / f".{made.name}.{os.getpid()}"
    command = [
        compiler,
        "-O2",
        "-shared",
        "-fPIC",
        "-o",
        str(draft),
        str(_SOURCE),
        "-ldl",
        "-lpthread",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _missing(str(error)) from None
    if done.returncode:
        draft.unlink(missing_ok=True)
        raise _missing((done.stderr.strip().splitlines() or ["the compiler failed"])[0])
    draft.replace(made)
    return made


def pace_variables(library: Path, origin: PaceOrigin) -> Mapping[str, str]:
    """What a program has to have in its environment to keep the pace."""
    preloaded = [str(library), *os.environ.get("LD_PRELOAD", "").split()]
    return {
        "LD_PRELOAD": " ".join(preloaded),
        "QUINTANT_PACE": repr(origin.pace),
        "QUINTANT_PACE_REALTIME": repr(origin.realtime),
        "QUINTANT_PACE_MONOTONIC": repr(origin.monotonic),
    }


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where what was made for this machine is kept."""
    home = Path(environ.get("HOME") or Path.home())
    return Path(environ.get("XDG_CACHE_HOME") or home / ".cache") / "quintant"


def _missing(why: str) -> ConfigError:
    return ConfigError(
        "cannot make the clock of the program faster",
        because=why,
        hint="install cc and libc's headers, or use --pace 1, which takes as long as it takes",
    )
