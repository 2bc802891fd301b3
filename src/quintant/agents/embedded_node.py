"""Where a program in a pod is on the embedded node: its root folder, and the pod's own address.

In a container paths are as they stand, and every address is the pod's. On the embedded node mount
paths are below `QUINTANT_ROOT`, and pods share the machine's loopback, each with one address of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

ROOT_VARIABLE = "QUINTANT_ROOT"
ADDRESS_VARIABLE = "QUINTANT_POD_IP"
_THIS_POD = ("localhost", "127.0.0.1", "0.0.0.0", "::1", "::")


def path_in_pod(path: str, environ: Mapping[str, str] = os.environ) -> str:
    """Where a path of the pod is that somebody else tells; what the node tells is right already."""
    root = environ.get(ROOT_VARIABLE, "")
    found = os.path.join(root, os.path.normpath(path).lstrip("/")) if root else path
    return found if os.path.exists(found) else path


def pod_address(environ: Mapping[str, str] = os.environ) -> str:
    """The address to listen on; empty in a container, where it is every one."""
    return environ.get(ADDRESS_VARIABLE, "")


def host_in_pod(host: str, environ: Mapping[str, str] = os.environ) -> str:
    """Where another program of the same pod is, if that is what a host means."""
    return pod_address(environ) or host if host.lower() in _THIS_POD else host
