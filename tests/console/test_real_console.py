"""The page before the real server of the console, on an embedded cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from quintant import Client, Config
from quintant.api.core import Node
from quintant.cli.client import open_client
from quintant.client.http.transport import HttpTransport
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.console.console import ConsoleOptions, run_console
from quintant.core.address import BindAddress
from quintant.core.clock import Random, SystemClock
from quintant.core.object import ObjectMeta
from testbeds.chromium import Viewer, viewer
from testbeds.console import systems
from testbeds.kept_cluster import kept_cluster

pytestmark = pytest.mark.asyncio(loop_scope="session")
ANYWHERE = BindAddress.parse("127.0.0.1:0")
VIEWS = ("/", "/systems/klight", "/systems/shifu", "/edgemap", "/changes", "/events", "/nodes")


@pytest_asyncio.fixture(loop_scope="session")
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    """A cluster of its own, and a client that writes as kubectl-edit."""
    async with run_cluster(ClusterConfig(ANYWHERE)) as cluster:
        save_kubeconfig(cluster, tmp_path / "kubeconfig")
        async with open_client(Config.load(tmp_path / "kubeconfig"), "kubectl-edit") as opened:
            yield opened


@asynccontextmanager
async def real_console(browser: Any, kubeconfig: Path) -> AsyncIterator[Viewer]:
    """Somebody who looks at a real console."""
    transport = HttpTransport(Config.load(kubeconfig))
    options = ConsoleOptions(systems(), ANYWHERE, "a cluster")
    try:
        async with (
            run_console(options, transport, SystemClock(), Random(1)) as address,
            viewer(browser, f"http://127.0.0.1:{address.port}") as looking,
        ):
            yield looking
    finally:
        await transport.close()


@pytest_asyncio.fixture(loop_scope="session")
async def real(browser: Any, client: Client, tmp_path: Path) -> AsyncIterator[Viewer]:
    """Somebody who looks at the console of that cluster."""
    async with real_console(browser, tmp_path / "kubeconfig") as looking:
        yield looking


async def test_every_view_of_the_real_console_is_live_and_without_errors(real: Viewer) -> None:
    for path in VIEWS:
        await real.open(path)
        await real.page.get_by_role("heading", level=1).wait_for()
        assert real.errors == []
    await real.open("/systems/shifu")
    await real.page.get_by_text("kubectl apply -k deploy/shifu").wait_for()


async def test_a_changed_field_is_seen_live_with_old_new_and_who(
    real: Viewer, client: Client
) -> None:
    await client.create(Node(metadata=ObjectMeta(name="berlin", labels={"hall": "h1"})))
    await real.open("/objects/core/v1/nodes/-/berlin")
    await real.page.get_by_text("hall=h1").wait_for()
    changed = {"op": "replace", "path": "/metadata/labels/hall", "value": "h2"}
    await client.json_patch(Node, ObjectMeta(name="berlin"), [changed])
    change = real.page.get_by_role("region", name="History").locator(".change", has_text="hall")
    await change.get_by_text("by kubectl-edit").wait_for()
    assert await change.locator(".change-old .long-text").inner_text() == "h1"
    assert await change.locator(".change-new .long-text").inner_text() == "h2"


async def test_an_api_server_that_is_killed_is_said_and_the_page_goes_on_when_it_is_back(
    browser: Any, tmp_path: Path
) -> None:
    with kept_cluster(tmp_path) as cluster:
        async with (
            open_client(Config.load(cluster.kubeconfig), "tests") as client,
            real_console(browser, cluster.kubeconfig) as looking,
        ):
            await client.create(Node(metadata=ObjectMeta(name="berlin")))
            await looking.open("/nodes")
            row = looking.page.locator("[role=grid] .canvas .row", has_text="berlin")
            await row.evaluate("(row) => { row.known = true; }")

            cluster.kill()
            await looking.page.get_by_text("nodes: not live since").wait_for()
            await looking.page.get_by_text("the API server is silent").first.wait_for()
            assert await row.count() == 1

            await asyncio.to_thread(cluster.start)
            await client.create(Node(metadata=ObjectMeta(name="paris")))
            await looking.page.locator("[role=grid] .canvas .row", has_text="paris").wait_for()
            await looking.page.wait_for_selector("#live[data-live=live]")
            assert await row.evaluate("(row) => row.known")
