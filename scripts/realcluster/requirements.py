"""What a machine must have for a real cluster, and which of it this one lacks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from realcluster.nodes import cgroups
from realcluster.nodes.first_process import BRIDGED
from realcluster.programs import missing_packages

_NAMESPACES = ("unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--mount-proc", "true")


@dataclass(frozen=True)
class Machine:
    """What counts of a machine; what is called absent is what it lacks."""

    platform: str = "linux"
    uid: int = 0
    absent_packages: tuple[str, ...] = ()
    absent_controllers: tuple[str, ...] = ()
    cgroups_writable: bool = True
    bridge_filtered: bool = True
    namespaces_error: str = ""
    """Why namespaces cannot be made here; nothing if they can."""

    @classmethod
    def observe(cls) -> Machine:
        """Look at this machine."""
        return cls(
            platform=sys.platform,
            uid=os.geteuid(),
            absent_packages=missing_packages(),
            absent_controllers=cgroups.missing(),
            cgroups_writable=os.access(cgroups.ROOT, os.W_OK),
            bridge_filtered=BRIDGED.exists(),
            namespaces_error=_namespaces_error(),
        )


def missing(machine: Machine) -> tuple[str, ...]:
    """What is missing, a line each; the first that rules out the others ends the list."""
    if machine.platform != "linux":
        return (f"Linux: this is {machine.platform}",)
    if machine.uid != 0:
        return (f"root: this is user {machine.uid}",)
    return tuple(_missing(machine))


def _missing(machine: Machine) -> Iterator[str]:
    if absent := machine.absent_packages:
        yield f"packages: apt-get install --no-install-recommends {' '.join(absent)}"
    if absent := machine.absent_controllers:
        yield f"cgroups: no controller {', '.join(absent)} in {cgroups.ROOT}"
    elif not machine.cgroups_writable:
        yield f"cgroups: {cgroups.ROOT} is read-only"
    if not machine.bridge_filtered:
        yield f"{BRIDGED}: modprobe br_netfilter"
    if machine.namespaces_error:
        yield f"namespaces: {machine.namespaces_error}"


def _namespaces_error() -> str:
    try:
        ran = subprocess.run(_NAMESPACES, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return ran.stderr.strip() or "unshare fails" if ran.returncode != 0 else ""
