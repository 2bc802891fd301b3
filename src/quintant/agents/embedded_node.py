"""Where a program in a pod is on the embedded node: its root folder, and the pod's own address.

In a container paths are as they stand, and every address is the pod's. On the embedded node mount
paths are below `QUINTANT_ROOT`, and pods share the machine's loopback, each with one address of it.
Nothing but us keeps a program there from files of whoever runs the cluster: every path that a pod
names goes through `pod_path`, which gives none outside of the pod's root and volumes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT_VARIABLE = "QUINTANT_ROOT"
VOLUMES_VARIABLE = "QUINTANT_VOLUMES"
"""The folders of the pod's volumes, a list in JSON."""
ADDRESS_VARIABLE = "QUINTANT_POD_IP"
_THIS_POD = ("localhost", "127.0.0.1", "0.0.0.0", "::1", "::")


class PathOutsidePod(Exception):
    """A path leads out of the pod; the text says which, why, and what to try, a line each."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"cannot use the path {path!r}\n"
            "because: it is, or leads by a link, outside of the pod's root and its volumes\n"
            "try: mount a volume, and name a path below its mount path"
        )


def pod_path(path: str, environ: Mapping[str, str] = os.environ) -> Path:
    """A path of the pod that a program names; what the node names is right already.

    PathOutsidePod on the embedded node if it is not the pod's. As a `type` of an option it is
    tried on the default, too, where that is a text.
    """
    root = environ.get(ROOT_VARIABLE, "")
    if not root:
        return Path(path)
    inside = os.path.join(root, os.path.normpath(path).lstrip("/"))
    found = inside if os.path.isabs(path) and os.path.exists(inside) else path
    if not is_inside(found, (root, *_volumes(environ))):
        raise PathOutsidePod(path)
    return Path(found)


def is_inside(path: str | Path, folders: Iterable[str | Path]) -> bool:
    """Whether a path ends in one of these folders, by whatever links are there."""
    try:
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(os.path.realpath(each)) for each in folders)
    except (OSError, ValueError):  # such as a zero byte
        return False


def pod_address(environ: Mapping[str, str] = os.environ) -> str:
    """The address to listen on; empty in a container, where it is every one."""
    return environ.get(ADDRESS_VARIABLE, "")


def host_in_pod(host: str, environ: Mapping[str, str] = os.environ) -> str:
    """Where another program of the same pod is, if that is what a host means."""
    return pod_address(environ) or host if host.lower() in _THIS_POD else host


def _volumes(environ: Mapping[str, str]) -> list[str]:
    try:
        found = json.loads(environ.get(VOLUMES_VARIABLE) or "[]")
    except (ValueError, RecursionError):
        return []
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
