"""A containerd that has loaded its images, to be copied to every node.

To load an archive takes seconds on each node, each time. So it is loaded once, and nodes get copies
of the result: links to layers, which nobody changes, and databases of their own.
"""

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from foreign.errors import Report
from foreign.process import Child
from image.base import run_with_progress
from realcluster.network import run
from realcluster.waiting import wait

_NAMESPACE = "k8s.io"
"""Where a kubelet's images are."""
_DATABASES = "*/*.db"


def provide_store(archive: Path, environ: Mapping[str, str], report: Report) -> Path:
    """Return the folder of a containerd that has the images of an archive; fill it if needed."""
    store = archive.with_suffix(".store")
    if not store.exists():
        for old in archive.parent.glob("*.store*"):
            shutil.rmtree(old)
        fresh = store.with_suffix(".store-new")
        began = time.monotonic()
        _fill(fresh, archive, environ, report)
        fresh.rename(store)
        report(f"images loaded in {time.monotonic() - began:.0f} s")
    return store


def copy_store(store: Path, target: Path) -> None:
    """Give a node its own copy."""
    run(("cp", "--archive", "--link", str(store), str(target)))
    for database in target.glob(_DATABASES):
        copy = database.with_suffix(".copy")
        shutil.copyfile(database, copy)
        copy.rename(database)


def _fill(folder: Path, archive: Path, environ: Mapping[str, str], report: Report) -> None:
    with _containerd(folder, report) as socket:
        line = ("ctr", f"--address={socket}", f"--namespace={_NAMESPACE}", "images", "import")
        run_with_progress((*line, str(archive)), folder, environ, report, "load the images")


@contextmanager
def _containerd(folder: Path, report: Report) -> Iterator[Path]:
    """A containerd of its own, for as long as it takes; its mounts are in no other's sight."""
    state = folder.with_suffix(".state")
    state.mkdir(exist_ok=True)
    socket = state / "containerd.sock"
    words = (f"--root={folder}", f"--state={state / 'state'}", f"--address={socket}")
    child = Child(("unshare", "--mount", "containerd", *words), state / "log")
    try:
        wait(lambda: _answers(socket), "containerd", report, child.check)
        yield socket
    finally:
        child.stop()
        shutil.rmtree(state, ignore_errors=True)


def _answers(socket: Path) -> bool:
    command = ("ctr", f"--address={socket}", "version")
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
