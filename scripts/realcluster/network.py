"""The cluster's network: a bridge in a namespace of its own, and a cable to every node.

A namespace is a process that has it: it goes with its process, and has no name that could stay.
What is in this one is the cluster's outside, too: it has a way to pods and Services, through the
nodes, as a machine beside the cluster has.
"""

import ctypes
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from foreign.errors import ProgramError
from foreign.process import Child
from realcluster.layout import BRIDGE, CONTROL_PLANE, SERVICES, Machine

_POLL_SECONDS, _TRIES = 0.02, 500
HOLDER = ("unshare", "--net", "sleep", "infinity")


def in_network(pid: int, command: Sequence[str]) -> list[str]:
    """A command line that runs in the network namespace of a process."""
    return ["nsenter", f"--net=/proc/{pid}/ns/net", *command]


@contextmanager
def entered(pid: int) -> Iterator[None]:
    """Be in the network namespace of a process; what is started meanwhile stays there."""
    with open("/proc/self/ns/net") as own, open(f"/proc/{pid}/ns/net") as other:
        _set_namespace(other.fileno())
        try:
            yield
        finally:
            _set_namespace(own.fileno())


def _set_namespace(file: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(file, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), "setns")


def await_namespace(child: Child) -> None:
    """Return when a process has left our network namespace."""
    own = os.readlink("/proc/self/ns/net")
    for _ in range(_TRIES):
        child.check()
        if os.readlink(f"/proc/{child.pid}/ns/net") != own:
            return
        time.sleep(_POLL_SECONDS)
    raise child.failure("it has no network namespace of its own")


def make_bridge(holder: int) -> None:
    """The bridge that nodes are plugged into; it leads nowhere else."""
    _ip(holder, "link", "set", "lo", "up")
    _ip(holder, "link", "add", BRIDGE, "type", "bridge")
    _ip(holder, "addr", "add", f"{CONTROL_PLANE}/24", "dev", BRIDGE)
    _ip(holder, "link", "set", BRIDGE, "up")
    run(in_network(holder, ("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")))


def plug(holder: int, node: int, machine: Machine) -> None:
    """A cable between the bridge and the namespace of a node, and the way to its pods."""
    other = ("peer", "name", "eth0", "netns", str(node))
    _ip(holder, "link", "add", machine.link, "type", "veth", *other)
    _ip(holder, "link", "set", machine.link, "master", BRIDGE, "up")
    _ip(holder, "route", "replace", machine.pods, "via", machine.address)


def route_services(holder: int, machine: Machine) -> None:
    """The way to Services: through one node, whose kube-proxy leads on."""
    _ip(holder, "route", "replace", SERVICES, "via", machine.address)


def run(command: Sequence[str]) -> str:
    """Run a command to its end; ProgramError with what it said if it fails."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise ProgramError(
            f"cannot run {' '.join(command)}",
            why=ran.stderr.strip().rpartition("\n")[2] or f"it ended with {ran.returncode}",
            hint="python -m realcluster clean, then begin again",
        )
    return ran.stdout


def _ip(holder: int, *words: str) -> None:
    run(in_network(holder, ("ip", *words)))
