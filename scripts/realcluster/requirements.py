"""What a machine must have for a real cluster, and which of it this one lacks."""

import os
import subprocess
import sys
from collections.abc import Iterator

from realcluster.nodes import cgroups
from realcluster.nodes.first_process import BRIDGED
from realcluster.programs import missing_packages

_NAMESPACES = ("unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--mount-proc", "true")


def missing() -> tuple[str, ...]:
    """What is missing, a line each; the first that rules out the others ends the list."""
    return tuple(_missing())


def _missing() -> Iterator[str]:
    if sys.platform != "linux":
        yield f"Linux: this is {sys.platform}"
        return
    if os.geteuid() != 0:
        yield f"root: this is user {os.geteuid()}"
        return
    if absent := missing_packages():
        yield f"packages: apt-get install --no-install-recommends {' '.join(absent)}"
    if absent := cgroups.missing():
        yield f"cgroups: no controller {', '.join(absent)} in {cgroups.ROOT}"
    elif not os.access(cgroups.ROOT, os.W_OK):
        yield f"cgroups: {cgroups.ROOT} is read-only"
    if not BRIDGED.exists():
        yield f"{BRIDGED}: modprobe br_netfilter"
    if complaint := _namespaces():
        yield f"namespaces: {complaint}"


def _namespaces() -> str:
    """Why namespaces cannot be made here; nothing if they can."""
    try:
        ran = subprocess.run(_NAMESPACES, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return ran.stderr.strip() or "unshare fails" if ran.returncode != 0 else ""
