"""On a real kube-apiserver: the console under its generated role, and who may look by that server.

The server's own RBAC, TokenReview and SubjectAccessReview decide.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from msgspec import structs

import patience
from envtest import RealCluster
from quintant import Client, Config
from quintant.api.core import Namespace
from quintant.client.config.user import Impersonate
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest
from quintant.console.console import ConsoleOptions, run_console
from quintant.console.role import NAME, console_rbac
from quintant.core.address import BindAddress
from quintant.core.clock import Random, SystemClock
from quintant.core.object import ObjectMeta
from quintant.operators.shifu.api.device import EdgeDevice, EdgeDeviceSpec
from quintant.operators.shifu.api.node import EdgeNode
from quintant.runtime.manager.install_crds import install_crds
from testbeds.console import systems
from testbeds.console_stream import StreamedTopic, seen

pytestmark = pytest.mark.realtime

HOME = "console-under-test"
ANYWHERE = BindAddress("127.0.0.1", 0)
WITHIN_SECONDS = 30.0
STRANGERS = "demo.dev"
"""How the groups of other tests' kinds end."""
PAGE = f"object/shifu.edgenesis.io/v1alpha1/edgedevices/{HOME}/camera"


@pytest_asyncio.fixture
async def account(
    real_cluster: RealCluster, client: Client, transport: HttpTransport
) -> AsyncIterator[HttpTransport]:
    """The way of the console's service account, which has the generated role and nothing else."""
    await client.apply(Namespace(metadata=ObjectMeta(name=HOME)))
    await install_crds(transport, [EdgeDevice, EdgeNode])
    for obj in console_rbac([each.panel for each in systems()], HOME, reviews=True):
        await client.apply(obj)
    config = Config.load(real_cluster.kubeconfig)
    user = Impersonate(user=f"system:serviceaccount:{HOME}:{NAME}")
    opened = HttpTransport(
        structs.replace(config, user=structs.replace(config.user, impersonate=user))
    )
    yield opened
    await opened.close()


@asynccontextmanager
async def console(account: HttpTransport, *, asks: bool = False) -> AsyncIterator[HttpTransport]:
    """A way to a console that reads the real cluster."""
    options = ConsoleOptions(systems(), ANYWHERE, "a real one", kubernetes_auth=asks)
    async with run_console(options, account, SystemClock(), Random(1)) as address:
        viewer = HttpTransport(Config(server=f"http://{address}"))
        try:
            yield viewer
        finally:
            await viewer.close()


async def test_every_kind_is_live_under_the_generated_role_and_a_change_has_its_author(
    account: HttpTransport, transport: HttpTransport, client: Client
) -> None:
    meta = ObjectMeta(name="camera", namespace=HOME)
    await client.create(EdgeDevice(metadata=meta, spec=EdgeDeviceSpec(sku="first")))
    async with console(account) as viewer, patience.within(WITHIN_SECONDS):
        shown = await seen(viewer, "panel/shifu", lambda it: bool(it.rows) and all_live(it))
        (row,) = shown.rows.values()
        assert (row["name"], row["cells"][0], row["state"]) == ("camera", "first", "unknown")

        await seen(viewer, PAGE, lambda it: "object" in it.rows)
        editor = Client(Rest(transport), manager="kubectl-edit")
        change = {"op": "replace", "path": "/spec/sku", "value": "second"}
        await editor.json_patch(EdgeDevice, meta, [change])
        page = await seen(viewer, PAGE, lambda it: bool(changes(it)))
        (changed,) = changes(page)
        assert (changed["old"], changed["new"]) == ("first", "second")
        assert changed["manager"] == "kubectl-edit"


def changes(topic: StreamedTopic) -> list[dict[str, Any]]:
    """What the history of a device has about its SKU."""
    return [each for each in topic.rows.values() if each.get("field") == ".spec.sku"]


def all_live(topic: StreamedTopic) -> bool:
    """Whether every kind is live; what is refused never becomes so."""
    # Other tests leave definitions on the server, which the role of a console does not cover.
    sources = {name: it for name, it in topic.sources.items() if not name.endswith(STRANGERS)}
    assert {name: it for name, it in sources.items() if "403" in it["reason"]} == {}
    return all(each["live"] for each in sources.values())


async def test_users_are_those_that_the_server_knows_by_their_tokens(
    account: HttpTransport, real_cluster: RealCluster
) -> None:
    async with console(account, asks=True) as viewer, patience.within(WITHIN_SECONDS):
        # A role that was just written holds a moment later.
        while await status(viewer, f"Bearer {real_cluster.token}") != 200:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.1)
        assert await status(viewer, "") == 401
        assert await status(viewer, "Bearer somebody-elses-token") == 401


async def status(viewer: HttpTransport, authorization: str) -> int:
    headers = {"authorization": authorization} if authorization else {}
    call = ApiRequest("GET", "/api/topics/nodes", {}, headers)
    return (await viewer.request(call)).status
