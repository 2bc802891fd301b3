"""The folder that KUBEBUILDER_ASSETS names: etcd and kube-apiserver, and kubectl if there is one.

The programs are two lines of shell each, which start this very Python. The folder belongs to this
installation and is written anew whenever it is asked for, so that it is never of another one.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from quintant.core.errors import ConfigError

PROGRAMS = {
    "etcd": "quintant.cli.envtest.etcd",
    "kube-apiserver": "quintant.cli.envtest.kube_apiserver",
}
KUBECTL = "kubectl"
WRITER = "quintant envtest assets"
"""Names itself in what it writes, and replaces nothing else."""
MODE, FOLDER_MODE = 0o755, 0o700
_DIGITS = 12
"""Of the hash that tells installations apart."""


def usual_folder(environ: Mapping[str, str], python: str = sys.executable) -> Path:
    """Where the programs of this Python are put: in the user's folder for caches."""
    home = Path(environ.get("HOME") or Path.home())
    cache = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    which = sha256(os.fsencode(python)).hexdigest()[:_DIGITS]
    return cache / "quintant" / f"envtest-{which}"


def write_assets(folder: Path, environ: Mapping[str, str], python: str = sys.executable) -> Path:
    """Put the programs into a folder; ConfigError if that is not possible, or not ours to do."""
    folder = folder.absolute()
    try:
        folder.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        for name, module in PROGRAMS.items():
            _write(folder / name, program(python, module))
        _link_kubectl(folder, environ)
    except OSError as error:
        raise ConfigError(
            f"cannot put the programs into {folder}",
            because=error.strerror or str(error),
            hint="name another folder with --dir",
        ) from error
    return folder


def program(python: str, module: str) -> str:
    """A program that is a module; the folder it is started in has no say (-P)."""
    start = f'exec {shlex.quote(python)} -P -m {module} "$@"'
    return f"#!/bin/sh\n# Written by {WRITER}.\n{start}\n"


def _write(path: Path, text: str) -> None:
    """Replace a program of ours as a whole: somebody may be starting it."""
    if path.exists() and WRITER not in path.read_text(errors="replace")[:200]:
        raise ConfigError(
            f"cannot put {path.name} into {path.parent}",
            because="there is one already, and it is not Quintant's",
            hint="name another folder with --dir",
        )
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text)
    draft.chmod(MODE)
    draft.replace(path)


def _link_kubectl(folder: Path, environ: Mapping[str, str]) -> None:
    """A link to the kubectl of the user, if there is one and none of the folder's own."""
    link = folder / KUBECTL
    found = shutil.which(KUBECTL, path=environ.get("PATH"))
    if found is None or Path(found).absolute() == link or (link.exists() and not link.is_symlink()):
        return
    link.unlink(missing_ok=True)
    link.symlink_to(Path(found).absolute())
