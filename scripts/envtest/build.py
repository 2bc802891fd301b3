"""Building the real binaries, once per machine, from published Go modules.

One process builds at a time, others wait for it (a lock in the cache). A program appears in the
cache by a rename, when it is finished: whoever finds it there finds it whole, and a build that
was interrupted goes on with the programs that are missing.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from envtest import binaries
from envtest.errors import Report, announce
from envtest.go import PROGRESS_SECONDS, Go
from envtest.gomod import (
    ETCD_MODULE,
    KUBERNETES_MODULE,
    Module,
    linker_flags,
    main_module,
)
from quintant.version import KUBERNETES

# The newest patch of the 3.6 line, which is what Kubernetes v1.36 is released with.
ETCD = "v3.6.16"

_LOCK_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Recipe:
    """Where the source of one program is."""

    module: str
    version: str
    package: str


def _recipe(name: str, version: str = KUBERNETES) -> Recipe:
    return Recipe(KUBERNETES_MODULE, version, f"{KUBERNETES_MODULE}/cmd/{name}")


RECIPES: Mapping[str, Recipe] = {
    binaries.STORE: Recipe(ETCD_MODULE, ETCD, ETCD_MODULE),
    **{name: _recipe(name) for name in (binaries.APISERVER, binaries.MANAGER, binaries.KUBECTL)},
}


def provide(
    environ: Mapping[str, str],
    needed: Iterable[str] = binaries.PAIR,
    *,
    report: Report = announce,
) -> Path:
    """Return a folder with the needed binaries; build all of them first where one is missing."""
    found = binaries.locate(environ, tuple(needed))
    return found or _build_all(Go.find(environ, report), binaries.cached(environ))


def provide_kubectl(environ: Mapping[str, str], version: str) -> Path:
    """Return the kubectl of any release, such as v1.30.14; build it first where it is missing."""
    program = binaries.kubectl_of(environ, version)
    if binaries.missing(program.parent, (program.name,)):
        recipe = {program.name: _recipe(binaries.KUBECTL, version)}
        _build_all(Go.find(environ, announce), program.parent, recipe)
    return program


def _build_all(go: Go, folder: Path, recipes: Mapping[str, Recipe] = RECIPES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder.parent / "lock", go.report):
        # Asked again under the lock: another process may have built them while we waited.
        for name in binaries.missing(folder, recipes):
            with _workshop(folder.parent / "building") as work:
                _build(go, recipes[name], work / name)
                os.replace(work / name, folder / name)
    return folder


def _build(go: Go, recipe: Recipe, target: Path) -> None:
    work, name = target.parent, target.name
    module = _describe(go, recipe, work)
    (work / "go.mod").write_text(main_module(module))

    started = time.monotonic()
    go.run(
        *("build", "-v", "-mod=mod", "-trimpath", "-buildvcs=false"),
        *("-ldflags", linker_flags(module), "-o", str(target), recipe.package),
        folder=work,
        title=f"building {name} {recipe.version}",
    )
    go.report(f"built {name} {recipe.version} in {time.monotonic() - started:.0f} s")


def _describe(go: Go, recipe: Recipe, work: Path) -> Module:
    wanted = f"{recipe.module}@{recipe.version}"
    answer = json.loads(
        go.run("list", "-m", "-json", wanted, folder=work, title=f"fetching {wanted}")
    )
    return Module(
        path=recipe.module,
        version=recipe.version,
        gomod=Path(answer["GoMod"]).read_text(),
        published=answer["Time"],
    )


@contextmanager
def _workshop(folder: Path) -> Iterator[Path]:
    """Lend an empty folder in the cache, so that a rename out of it stays on one file system."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(path: Path, report: Report) -> Iterator[None]:
    """Hold the build lock; the kernel releases it when its holder ends, however it ends."""
    with path.open("w") as lock:
        started = reported = time.monotonic()
        while not _taken(lock):
            time.sleep(_LOCK_POLL_SECONDS)
            if (now := time.monotonic()) - reported >= PROGRESS_SECONDS:
                report(f"waiting for another process to build: {now - started:.0f} s")
                reported = now
        yield


def _taken(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
