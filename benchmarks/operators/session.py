"""A bare aiohttp session to the API server that the environment names: no runtime of any kind."""

from __future__ import annotations

import os
import ssl

import aiohttp

GREETERS = "/apis/bench.quintant.dev/v1/namespaces/default/greeters"
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


def session() -> aiohttp.ClientSession:
    """A session whose requests carry the administrator's token."""
    return aiohttp.ClientSession(
        os.environ["BENCH_SERVER"],
        connector=aiohttp.TCPConnector(
            ssl=ssl.create_default_context(cafile=os.environ["BENCH_CA"]), limit=0
        ),
        headers={
            "Authorization": f"Bearer {os.environ['BENCH_TOKEN']}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        },
        timeout=aiohttp.ClientTimeout(total=None),
        read_bufsize=256 * 1024,
    )
