"""The operator on kopf, with the defaults of `kopf run`, on uvloop.

By default it logs two lines for each handler that ends, which is part of what it costs; with
BENCH_QUIET it does not. In its favour, the child, for which it brings no client, is made with a
bare aiohttp session.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import aiohttp
import kopf
import uvloop

from benchmarks.operators.session import CONFIGMAPS, session

_sessions: list[aiohttp.ClientSession] = []


@kopf.on.startup()
async def start(**_: Any) -> None:
    """Open the session."""
    _sessions.append(session())


@kopf.on.cleanup()
async def stop(**_: Any) -> None:
    """Close the session."""
    await _sessions.pop().close()


@kopf.on.create("bench.quintant.dev", "v1", "greeters")
async def create(body: kopf.Body, spec: kopf.Spec, patch: kopf.Patch, **_: Any) -> None:
    """Make the child, then say so."""
    child: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": body.metadata.name, "namespace": body.metadata.namespace},
        "data": {"text": spec["message"]},
    }
    kopf.append_owner_reference(child, owner=body)
    async with _sessions[0].post(CONFIGMAPS, json=child) as response:
        if response.status != 409:
            response.raise_for_status()
        await response.read()
    patch.status["greeted"] = True


async def main() -> None:
    """Run until killed."""
    await kopf.operator(standalone=True, namespace="default")


if __name__ == "__main__":
    kopf.configure(quiet="BENCH_QUIET" in os.environ)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
