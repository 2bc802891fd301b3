"""The first example as a user runs it: `quintant run` in a process of its own, on any cluster."""

from __future__ import annotations

from pathlib import Path

import patience
from examples_support import EXAMPLES, load_example
from quintant import Client, Config
from quintant.api.core import ConfigMap
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.testing import named
from scenarios.program import running

FILE = EXAMPLES / "01_greeter.py"
NAME = ("greeting", "default")
# Generous: a child process on a busy machine.
SOON_SECONDS = 30.0

example = load_example("01_greeter")


async def check_greeting(kubeconfig: Path) -> None:
    """Run the example against a cluster, use it, and stop it."""
    transport = HttpTransport(Config.load(kubeconfig))
    client = Client(Rest(transport), manager="tests")
    try:
        with running(FILE, kubeconfig, "--install-crds") as program:
            await program.ready()
            await _greet(client)
            success = {"controller": "greeter", "result": "success"}
            assert await program.sample("controller_runtime_reconcile_total", **success) >= 1
            assert await program.stop() == 0
        await _forget(client)
    finally:
        await transport.close()


async def _greet(client: Client) -> None:
    """Create a greeter, see what it keeps and says, and that it minds what it keeps."""
    spec = example.GreeterSpec(message="hello")
    await client.create(example.Greeter(metadata=named(*NAME), spec=spec))
    await _said(client, "hello")
    await client.wait_for(
        example.Greeter,
        *NAME,
        until=lambda found: found is not None and found.status is not None and found.status.greeted,
        timeout=patience.seconds(SOON_SECONDS),
    )
    await client.apply(ConfigMap(metadata=named(*NAME), data={"text": "something else"}))
    await _said(client, "hello")


async def _said(client: Client, text: str) -> None:
    await client.wait_for(
        ConfigMap,
        *NAME,
        until=lambda found: found is not None and found.data == {"text": text},
        timeout=patience.seconds(SOON_SECONDS),
    )


async def _forget(client: Client) -> None:
    for kind in (example.Greeter, ConfigMap):
        await client.delete(await client.get(kind, *NAME))
