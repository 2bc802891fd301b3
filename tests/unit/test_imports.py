"""What a process pays for: heavy libraries are loaded only where they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

PLAIN_MANAGER = """
import asyncio
from quintant import Manager
from quintant.api.core import ConfigMap
from quintant.runtime.observe import logs
from quintant.testing import InProcessCluster, run

async def reconcile(obj, ctx):
    ...

async def main():
    cluster, manager = InProcessCluster(), Manager("plain")
    manager.controls(ConfigMap).reconcile(reconcile)
    await cluster.run(manager)
    await asyncio.sleep(60)

logs.configure(level="error")
run(main())
"""
"""At work for a minute, with nothing of what can be added."""


@pytest.mark.parametrize(
    ("program", "spared"),
    [
        (
            PLAIN_MANAGER,
            (
                "quintant.kopf",
                "quintant.preview",
                "quintant.cli",
                "quintant.runtime.clusters.secrets",
                "quintant.runtime.clusters.engaged",
                "quintant.runtime.observe.access",
                "quintant.runtime.observe.otel",
                "quintant.runtime.shard.member",
                "cProfile",
            ),
        ),
        ("import quintant", ("msgspec", "websockets", "prometheus_client", "structlog")),
        ("from quintant import Model, resource", ("websockets", "prometheus_client", "yaml")),
        (
            "from quintant import Manager",
            (
                "websockets",
                "cryptography",
                "rich",
                "click",
                "prometheus_client",
                "quintant.cluster",
            ),
        ),
        ("import quintant.cli", ("websockets", "yaml", "rich", "prometheus_client")),
        (
            "import quintant.cli.operators.run",
            ("websockets", "cryptography", "rich", "quintant.cluster"),
        ),
        (
            "import quintant.cluster.apiserver.server.server",
            ("cryptography", "websockets", "sqlite3", "re2"),
        ),
        (
            "import quintant.cli.cluster.up, quintant.cluster.controllers\n"
            "import quintant.cluster.kubelet.local_node",
            (
                "websockets",
                "sqlite3",
                "rich",
                "grpc",
                "prometheus_client",
                "yaml",
                "ctypes",
                "zoneinfo",
            ),
        ),
        (
            "import quintant.agents.relay.relay",
            ("aiohttp", "websockets.frames", "prometheus_client"),
        ),
        ("import quintant.agents.cosmosnode.healthcheck", ("quintant.core", "shutil", "uvloop")),
        (
            "import sys\nfrom contextlib import suppress\nfrom quintant.__main__ import main\n"
            "sys.argv[1:] = ['agent', 'cosmosnode', 'clean']\nwith suppress(SystemExit):\n main()",
            ("click", "quintant.core"),
        ),
        ("import quintant.agents.tunnel.tunnel", ("aiohttp", "websockets.frames", "cryptography")),
    ],
)
def test_program_does_not_load_what_it_does_not_use(program: str, spared: tuple[str, ...]) -> None:
    loaded = f"{program}\nimport sys\nprint(*(m for m in {spared!r} if m in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""
