"""Who writes a kubeconfig into a Secret chooses a server, and reaches nothing else through us.

Spellings and fields one by one: tests/unit/client/config/test_untrusted.py.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from quintant.api.core import Node
from quintant.client.config.config import Config
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock, Random
from quintant.core.errors import ConfigError, ConnectError, QuintantError
from quintant.runtime.cache.client import Client
from quintant.runtime.remote import RemoteLimits, remote_client
from unit.client.loopback_servers import AUTHORITY, Answer, Api, serving

pytestmark = pytest.mark.realtime

TLS = AUTHORITY.serving("127.0.0.1")
OWN_TOKEN, THEIR_TOKEN = "own-token", "their-token"
QUICK = RemoteLimits(answer=2.0)


def kubeconfig(server: str, user: dict[str, Any] | None = None) -> bytes:
    cluster = {
        "server": server,
        "certificate-authority-data": base64.b64encode(AUTHORITY.pem).decode(),
    }
    document = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user or {"token": THEIR_TOKEN}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    }
    return json.dumps(document).encode()


@asynccontextmanager
async def reading(config: Config) -> AsyncIterator[Client]:
    """A client of the cluster of a config, of a program that has a token of its own."""
    own = InProcessTransport(ApiServer(clock=LoopClock(), random=Random(0)), OWN_TOKEN)
    async with remote_client(Client(Rest(own)), config, label="t", limits=QUICK) as client:
        yield client


async def answered(answer: Answer) -> tuple[QuintantError, Api]:
    """What comes of reading a node at a server that answers so."""
    async with serving(answer, TLS) as api:
        config = Config.from_bytes(kubeconfig(f"https://127.0.0.1:{api.port}"), environ={})
        async with reading(config) as client:
            with pytest.raises(QuintantError) as raised:
                await client.get(Node, "n")
    return raised.value, api


async def test_a_redirect_leads_nowhere_and_takes_no_token_along() -> None:
    async def target(request: web.Request) -> web.Response:
        return web.json_response({})

    async with serving(target, TLS) as other:

        async def redirect(request: web.Request) -> web.Response:
            return web.Response(
                status=307, headers={"location": f"https://127.0.0.1:{other.port}/"}
            )

        error, api = await answered(redirect)
        assert other.seen == []
    assert [seen.headers["authorization"] for seen in api.seen] == [f"Bearer {THEIR_TOKEN}"]
    assert THEIR_TOKEN not in str(error)


async def test_our_own_token_is_shown_to_no_other_cluster() -> None:
    async def refuse(request: web.Request) -> web.Response:
        return web.Response(status=401)

    _, api = await answered(refuse)
    assert OWN_TOKEN not in str([dict(seen.headers) for seen in api.seen])


@pytest.mark.parametrize("server", ["https://169.254.169.254", "https://[fe80::1]"])
async def test_a_link_local_server_is_refused(server: str) -> None:
    with pytest.raises(ConfigError, match="link-local"):
        Config.from_bytes(kubeconfig(server), environ={})


async def test_a_name_that_leads_to_a_link_local_address_is_not_dialled() -> None:
    """To the resolver a number is a name like any other; one of a real zone needs a real zone."""
    config = Config("https://0xa9fea9fe", untrusted=True)
    async with reading(config) as client:
        with pytest.raises(ConnectError, match="link-local"):
            await client.get(Node, "n")


@pytest.mark.parametrize(
    "user",
    [
        {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "touch"}},
        {"tokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token"},
        {"client-certificate": "/etc/ssl/a", "client-key": "/etc/ssl/b"},
    ],
    ids=["exec", "token", "key"],
)
async def test_neither_programs_nor_files_of_ours_are_used(user: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="cannot use"):
        Config.from_bytes(kubeconfig("https://eu.example.com", user), environ={})
