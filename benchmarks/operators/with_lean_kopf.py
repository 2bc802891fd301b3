"""The operator on kopf at its leanest: a coroutine that makes the child through bare aiohttp.

No user of kopf gets this for free, since it brings no client and its documentation uses the
official one, but it shows what kopf itself costs. With BENCH_QUIET it does not log its handlers.
"""

from __future__ import annotations

from typing import Any

import aiohttp
import kopf

from benchmarks.operators.kopf_common import child, run
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
    sent = child(body, spec["message"])
    async with _sessions[0].post(CONFIGMAPS, json=sent) as response:
        if response.status != 409:
            response.raise_for_status()
        await response.read()
    patch.status["greeted"] = True


if __name__ == "__main__":
    run()
