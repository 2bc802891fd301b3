"""Operators on other runtimes, built from source into the cache, once per machine and version.

Their sources are in `benchmarks/peers/`; what they need comes from the registries that Go and cargo
are set up with. Without Go or cargo a peer is left out, and that is said.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from foreign.cache import cache_folder

SOURCES = Path(__file__).parent / "peers"
# Enough of what a compiler complains about to see what is wrong.
COMPLAINT_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Peer:
    """An operator that is not written in Python: its sources, and how they are built."""

    folder: str
    tool: str
    steps: Sequence[Sequence[str]]
    program: str
    env: Mapping[str, str] = field(default_factory=dict)


CONTROLLER_RUNTIME = Peer(
    "controller_runtime",
    "go",
    (
        ("go", "mod", "tidy"),
        ("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", "greeter", "."),
    ),
    "greeter",
    {"CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": "-mod=mod"},
)
KUBE_RS = Peer(
    "kube_rs", "cargo", (("cargo", "build", "--release", "--quiet"),), "target/release/greeter"
)


def build(peer: Peer, say: Callable[[str], None]) -> Path | None:
    """The program of a peer, built if the cache lacks it; None if it cannot be built."""
    program = _cache() / f"{peer.folder}-{_digest(peer)}"
    if program.exists():
        return program
    if shutil.which(peer.tool) is None:
        say(f"{peer.folder} left out: no {peer.tool} to build it with")
        return None
    say(f"building {peer.folder} (minutes, once)")
    return program if _built(peer, program, say) else None


def _built(peer: Peer, program: Path, say: Callable[[str], None]) -> bool:
    # The folder stays: a build that was cut short goes on, and the next version builds faster.
    folder = _cache() / f"{peer.folder}.build"
    shutil.copytree(SOURCES / peer.folder, folder, dirs_exist_ok=True)
    for step in peer.steps:
        done = subprocess.run(
            step, cwd=folder, env={**os.environ, **peer.env}, capture_output=True, text=True
        )
        if done.returncode:
            say(f"{peer.folder} left out: {' '.join(step)}: {done.stderr[-COMPLAINT_CHARACTERS:]}")
            return False
    made = program.with_suffix(".new")
    shutil.copy2(folder / peer.program, made)
    made.replace(program)
    return True


def _cache() -> Path:
    folder = cache_folder(os.environ) / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _digest(peer: Peer) -> str:
    files = sorted(path for path in (SOURCES / peer.folder).rglob("*") if path.is_file())
    return blake2b(b"\0".join(path.read_bytes() for path in files), digest_size=6).hexdigest()
