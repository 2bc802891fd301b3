"""The first process of a node: gives it its files and address, and keeps its programs running.

It is started by its path, as pid 1 of namespaces of its own (`node`), with a file that says what to
do, and imports nothing but the standard library. Programs that end are started again, as an
init system would; whatever is orphaned is reaped. When this process is killed, the kernel ends all
others of the node, and its mounts and links go with them: a power cut.
"""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

LINK = "eth0"
BRIDGED = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")
_POLL_SECONDS = 0.05
_RESTART_SECONDS = 1.0


def main(file: Path) -> None:
    """Do what the file says, for ever."""
    spec = json.loads(file.read_text())
    _mount(spec["binds"])
    socket.sethostname(spec["name"])
    _connect(spec["address"], spec["gateway"])
    node = _Node(spec)
    for name in spec["programs"]:
        node.start(name)
    node.keep()


class _Node:
    """The programs of a node, by the pids that they have in it."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._programs: dict[str, list[str]] = spec["programs"]
        self._logs, self._file = Path(spec["logs"]), Path(spec["pids"])
        self._running: dict[int, str] = {}

    def start(self, name: str) -> None:
        """Start a program; its output is added to its log."""
        with (self._logs / f"{name}.log").open("ab") as output:
            process = subprocess.Popen(
                self._programs[name], stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        self._running[process.pid] = name
        _replace(self._file, json.dumps({name: pid for pid, name in self._running.items()}))

    def keep(self) -> None:
        """Reap every process that ends; start those that are ours again."""
        while True:
            pid, status = os.wait()
            name = self._running.pop(pid, "")
            if name:
                print(f"{name} ended with {os.waitstatus_to_exitcode(status)}", flush=True)
                time.sleep(_RESTART_SECONDS)
                self.start(name)


def _mount(binds: list[list[str]]) -> None:
    """Lay the node's own folders and files over those of the machine, in this namespace alone."""
    _run("mount", "--make-rprivate", "/")
    _run("mount", "--make-rshared", "/")
    _run("mount", "-t", "tmpfs", "tmpfs", "/run")
    Path("/run/lock").mkdir()
    for source, target in binds:
        _run("mount", "--bind", source, target)


def _connect(address: str, gateway: str) -> None:
    """Take the address, once the cable is plugged in."""
    while LINK not in (name for _, name in socket.if_nameindex()):
        time.sleep(_POLL_SECONDS)
    _run("ip", "link", "set", "lo", "up")
    _run("ip", "addr", "add", f"{address}/24", "dev", LINK)
    _run("ip", "link", "set", LINK, "up")
    _run("ip", "route", "add", "default", "via", gateway)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    # Without it, what two pods of the node say to each other passes no packet filter.
    BRIDGED.write_text("1")


def _replace(file: Path, text: str) -> None:
    fresh = file.with_suffix(".new")
    fresh.write_text(text)
    fresh.rename(file)


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
