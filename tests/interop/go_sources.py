"""Programs in Go that are ours, around libraries of others: built into the cache, once."""

from __future__ import annotations

import os
import shutil
import subprocess
from hashlib import blake2b
from pathlib import Path

import pytest

from foreign.cache import cache_folder

BUILD = {"CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": "-mod=readonly -buildvcs=false"}


def built(sources: Path) -> Path:
    """The program of a folder; skipped aloud without Go or its modules."""
    files = sorted(path for path in sources.iterdir() if path.is_file())
    digest = blake2b(b"\0".join(path.read_bytes() for path in files), digest_size=6).hexdigest()
    made = cache_folder(os.environ) / "programs" / f"{sources.name}-{digest}"
    if made.exists():
        return made
    if shutil.which("go") is None:
        pytest.skip(f"there is no Go to build {sources.name} with")
    made.parent.mkdir(parents=True, exist_ok=True)
    draft = made.with_name(f"{made.name}.{os.getpid()}")
    print(f"\nbuilding the program with {sources.name} (minutes, once)")
    done = subprocess.run(
        ["go", "build", "-trimpath", "-ldflags", "-s -w", "-o", draft, "."],
        cwd=sources,
        env={**os.environ, **BUILD},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"the program with {sources.name} cannot be built: {done.stderr[-2000:]}")
    draft.replace(made)
    return made
