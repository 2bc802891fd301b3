"""cgroups of the cluster's pods: made before a kubelet needs them, and removed after it.

Both versions are served. In the first every controller has a hierarchy of its own; in the second
there is one, and controllers have to be passed on from parent to child.
"""

import contextlib
import os
import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
_NEEDED = ("cpu", "memory", "pids")
_PROCESSORS = ("cpuset.cpus", "cpuset.mems")
_TRIES, _PAUSE_SECONDS = 100, 0.1


def unified(root: Path = ROOT) -> bool:
    """Whether it is the second version."""
    return (root / "cgroup.controllers").exists()


def missing(root: Path = ROOT) -> tuple[str, ...]:
    """The controllers that pods need and this machine does not have."""
    if unified(root):
        known = (root / "cgroup.controllers").read_text().split()
        return tuple(name for name in _NEEDED if name not in known)
    return tuple(name for name in _NEEDED if not (root / name / "cgroup.procs").exists())


def tops(name: str, root: Path = ROOT) -> tuple[Path, ...]:
    """Where a cgroup of that name is, in every hierarchy."""
    if unified(root):
        return (root / name,)
    # Some have two names, of which one is a link.
    hierarchies = {each.parent.resolve() for each in root.glob("*/cgroup.procs")}
    return tuple(each / name for each in sorted(hierarchies))


def make(path: str, root: Path = ROOT) -> None:
    """Make a cgroup, and those above it, in every hierarchy."""
    for folder in tops(path, root):
        folder.mkdir(parents=True, exist_ok=True)
        hierarchy = root if unified(root) else root / folder.relative_to(root).parts[0]
        steps = [hierarchy.joinpath(*folder.relative_to(hierarchy).parts[: depth + 1])
                 for depth in range(len(folder.relative_to(hierarchy).parts))]  # fmt: skip
        for step in steps:
            _prepare(step)


def remove(folder: Path) -> bool:
    """Remove a cgroup with all below it; False if processes are still in one of them."""
    for _ in range(_TRIES):
        for below, _folders, _files in os.walk(folder, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(below)
        if not folder.exists():
            return True
        time.sleep(_PAUSE_SECONDS)
    return False


def _prepare(folder: Path) -> None:
    """Pass on what a cgroup has to be given before anything can live in it."""
    parent = folder.parent
    if (parent / "cgroup.subtree_control").exists():
        known = (parent / "cgroup.controllers").read_text().split()
        (parent / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in known))
    for name in _PROCESSORS:
        file = folder / name
        if file.exists() and (parent / name).exists() and not file.read_text().strip():
            file.write_text((parent / name).read_text())
