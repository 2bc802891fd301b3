"""Building without a registry: a store of layers in the cache, with a base made on this machine.

The store is used under a lock, which the engine's programs inherit: whatever container is in it
when the lock is free was left by a build that was killed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from foreign.cache import cache_folder, locked
from foreign.errors import Report
from image.base import provide_base, run_with_progress, tag_of_base
from image.engine import Build, Engine


@contextmanager
def local_engine(environ: Mapping[str, str], report: Report) -> Iterator[Engine]:
    """A buildah with the store of the cache; one process at a time has it."""
    folder = cache_folder(environ) / "image"
    with locked(folder, report) as lock:
        store = ("--root", str(folder / "storage"), "--runroot", str(folder / "run"))
        engine = Engine("buildah", ("buildah", *store), inherited=(lock,))
        _remove_containers(engine, report)
        try:
            yield engine
        finally:
            _remove_containers(engine, report)


def _remove_containers(engine: Engine, report: Report) -> None:
    """Remove every container of the store, and what is mounted for it."""
    for name in engine.containers():
        report(f"removing {name}, left by a build that ended early")
        engine.output("rm", name)


def own_base(engine: Engine, environ: Mapping[str, str], report: Report) -> str:
    """The tag of the base made of Debian's packages; made and loaded where it is missing."""
    archive, tag = provide_base(environ, report), tag_of_base()
    known = (*engine.command, "inspect", "--type", "image", tag)
    if subprocess.run(known, check=False, capture_output=True).returncode != 0:
        wanted = Build(archive.parent / "Containerfile", archive.parent, tag)
        line = engine.build_line(wanted, environ)
        run_with_progress(line, archive.parent, environ, report, "take the base in")
    return tag
