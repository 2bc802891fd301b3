"""Variables that make a program load code: what a pod says about them does not reach a program.

With `LD_PRELOAD`, `PYTHONPATH` or `OPENSSL_CONF` any program is another one, so whoever may create
pods could run the files of a ConfigMap. They are what ld.so drops for programs that run as somebody
else, and what Python and OpenSSL have of the same kind. The image table may set them (`env`), or
let those of pods through (`allowEnv`). Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from quintant.client.config.pod_environment import ISOLATED, MOUNT_VARIABLE
from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.cluster.kubelet.volume.claim_sizes import CLAIMS

LOADERS = (
    "LD_*", "DYLD_*", "GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "LOCPATH", "MALLOC_*",
    "NLSPATH", "PYTHON*", "OPENSSL_*",
)  # fmt: skip
"""Globs of the variables that loaders read."""
CHOOSERS = ("PATH", ISOLATED, MOUNT_VARIABLE, CLAIMS)
"""What decides which programs an isolated one starts, and which files it takes for the node's."""


def dropped_variables(names: Iterable[str], program: ImageProgram) -> tuple[str, ...]:
    """Which variables of a pod a program does not get."""
    globs = (*LOADERS, *CHOOSERS) if program.isolated else LOADERS
    return tuple(sorted(
        name for name in names if _fits(name, globs) and not _fits(name, program.allow_env)
    ))  # fmt: skip


def is_loader(name: str) -> bool:
    """Whether a variable decides which code a program loads or starts."""
    return _fits(name, (*LOADERS, *CHOOSERS))


def kept_variables(variables: Mapping[str, str], program: ImageProgram) -> dict[str, str]:
    """The variables of a pod that a program gets, and the mark of an isolated one."""
    dropped = set(dropped_variables(variables, program))
    kept = {name: value for name, value in variables.items() if name not in dropped}
    return {**kept, ISOLATED: "1"} if program.isolated else kept


def _fits(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
