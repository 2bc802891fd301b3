"""Memory and CPU of the health check that runs beside every node."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from urllib.error import HTTPError
from urllib.request import urlopen

import msgspec

from benchmarks.subprocesses import running
from processes.usage import MEGABYTE, usage

PROBE_SECONDS = 10.0
"""How often a kubelet asks, as pods are made."""
IDLE_SECONDS = 5.0
START_SECONDS = 20.0


class Figures(msgspec.Struct):
    """Megabytes, and a share of one core."""

    rss: float
    core: float


def measure(probes: int) -> Figures:
    """Ask it as often as a kubelet does in hours, beside a node that answers."""
    with running("cosmos.chain") as node:
        assert node.stdout is not None
        rpc, port = node.stdout.readline().decode().strip(), _free()
        line = [sys.executable, "-m", "quintant", "agent", "cosmosnode", "healthcheck"]
        where = ["--addr", f"127.0.0.1:{port}", "--rpc-host", f"http://127.0.0.1:{rpc}"]
        with subprocess.Popen([*line, *where], stderr=subprocess.DEVNULL) as process:
            try:
                return _probed(process.pid, f"http://127.0.0.1:{port}", probes)
            finally:
                process.kill()


def _probed(pid: int, url: str, probes: int) -> Figures:
    _answered(url)
    urlopen(f"{url}/disk?dir=/").read()
    before = usage(pid).cpu
    time.sleep(IDLE_SECONDS)
    idle = (usage(pid).cpu - before) / IDLE_SECONDS
    before = usage(pid).cpu
    for _ in range(probes):
        urlopen(url).read()
    used = usage(pid)
    return Figures(used.rss / MEGABYTE, idle + (used.cpu - before) / probes / PROBE_SECONDS)


def _answered(url: str) -> None:
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends:
        try:
            urlopen(url).read()
            return
        except HTTPError:
            raise
        except OSError:
            time.sleep(0.05)
    raise TimeoutError("the health check does not answer")


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    print(msgspec.json.encode(measure(int(sys.argv[1]))).decode())
