"""validateSysctls, ValidateHostSysctl: parameters of the kernel that a pod asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quintant.cluster.apiserver.meta.field_errors import duplicate, invalid, required
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.errors import Cause

MOST_CHARACTERS = 253
_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_NAME = re.compile(rf"({_SEGMENT}[\./])*{_SEGMENT}")
_FORM = f"must have at most {MOST_CHARACTERS} characters and match regex ^{_NAME.pattern}$"
_IPC = frozenset(
    {
        *("kernel.sem", "kernel.shm", "kernel.shmall", "kernel.shmmax", "kernel.shmmni"),
        *("kernel.shm_rmid_forced", "kernel.msg", "kernel.msgmax", "kernel.msgmnb"),
        "kernel.msgmni",
    }
)
_PREFIXES = {"net.": "hostNetwork", "fs.mqueue.": "hostIPC"}
_SWAPPED = str.maketrans("./", "/.")


def sysctl_causes(path: str, spec: JsonObject) -> Iterator[Cause]:
    """What is wrong with the parameters of a pod's kernel."""
    taken = set[str]()
    for at, sysctl in enumerate((spec.get("securityContext") or {}).get("sysctls") or ()):
        name, name_path = sysctl.get("name") or "", f"{path}[{at}].name"
        if not name:
            yield required(name_path)
        elif len(name) > MOST_CHARACTERS or not _NAME.fullmatch(name):
            yield invalid(name_path, name, _FORM)
        elif name in taken:
            yield duplicate(name_path, name)
        shared = _shared_by(name)
        if shared and spec.get(shared):
            yield invalid(name_path, name, f"may not be specified when '{shared}' is true")
        taken.add(name)


def _shared_by(name: str) -> str:
    """The field by which a pod would change a parameter for its whole node, if there is one."""
    first = re.search(r"[./]", name)
    plain = name.translate(_SWAPPED) if first and first[0] == "/" else name
    whole = plain.partition("*")[0]
    if whole in _IPC:
        return "hostIPC"
    return next((field for prefix, field in _PREFIXES.items() if whole.startswith(prefix)), "")
