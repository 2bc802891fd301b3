"""The klight controller as users run it: a process of its own, killed as a crash would.

As in a cluster, somebody else has installed its kinds; it needs the API server from then on only.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import Process
from pathlib import Path

from quintant.cluster.instance.cluster import save_kubeconfig
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.runtime.manager.install_crds import install_crds
from testbeds.real_peers import RealPeersTestbed

# Checked often, so that a test sees in seconds what takes half a minute elsewhere.
QUICK = {"KLIGHT_PROBE_INTERVAL": "2s", "KLIGHT_DOWN_AFTER": "6s", "KLIGHT_SETTLE": "10s"}


class Controller:
    """`quintant operator klight` at a cluster, or none."""

    def __init__(self, testbed: RealPeersTestbed, folder: Path) -> None:
        self.kubeconfig = folder / "kubeconfig"
        save_kubeconfig(testbed.cluster, self.kubeconfig)
        self._transport = testbed.transport
        self.metrics = f"127.87.{os.getpid() % 250}.1:8080"
        """Where it serves what it measures, and its networks."""
        self._log = folder / "controller.log"
        self._process: Process | None = None

    async def start(self) -> None:
        """Start a process; it takes a moment until it works."""
        await install_crds(self._transport, [LightNetwork])
        flags = (f"--kubeconfig={self.kubeconfig}", f"--metrics={self.metrics}", "--probes=")
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "quintant", "operator", "klight", *flags,
                env={**os.environ, **QUICK}, stdout=log, stderr=log,
            )  # fmt: skip

    async def kill(self) -> None:
        """End the process, wherever it is."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            await process.wait()
