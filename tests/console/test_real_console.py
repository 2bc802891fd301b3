"""The page before the real server of the console, on an embedded cluster."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from conformance.kubectl import programs
from quintant import Client, Config
from quintant.api.core import Node
from quintant.cli.client import open_client
from quintant.client.http.transport import HttpTransport
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.console.console import ConsoleOptions, run_console
from quintant.core.address import BindAddress
from quintant.core.clock import Random, SystemClock
from quintant.core.object import ObjectMeta
from testbeds.axe import violations
from testbeds.chromium import Viewer, viewer
from testbeds.console import systems
from testbeds.kept_cluster import kept_cluster

pytestmark = pytest.mark.asyncio(loop_scope="session")
READABLE = ("/plain", "/plain/nodes", "/plain/objects/core/v1/nodes/-/berlin", "/docs/shifu")
TOKEN = "a-token-that-is-long-enough"
PROGRAMS = programs()
needs_kubectl = pytest.mark.skipif(not PROGRAMS, reason="there is no kubectl")
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
async def real_console(
    browser: Any, kubeconfig: Path, *, token_file: Path | None = None
) -> AsyncIterator[Viewer]:
    """Somebody who looks at a real console."""
    transport = HttpTransport(Config.load(kubeconfig))
    options = ConsoleOptions(systems(), ANYWHERE, "a cluster", token_file)
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


@needs_kubectl
async def test_what_kubectl_edit_changes_is_in_the_history_with_old_new_and_who(
    real: Viewer, client: Client, tmp_path: Path
) -> None:
    await client.create(Node(metadata=ObjectMeta(name="paris", labels={"hall": "h1"})))
    await real.open("/objects/core/v1/nodes/-/paris")
    await real.page.get_by_text("hall=h1").wait_for()
    await edit(tmp_path / "kubeconfig", "node/paris", "s/hall: h1/hall: h2/")
    change = real.page.get_by_role("region", name="History").locator(".change", has_text="hall")
    await change.get_by_text("by kubectl-edit").wait_for()
    assert await change.locator(".change-old .long-text").inner_text() == "h1"
    assert await change.locator(".change-new .long-text").inner_text() == "h2"
    await real.open("/changes/-")
    await real.page.locator(".change", has_text="hall").get_by_text("by kubectl-edit").wait_for()


async def edit(kubeconfig: Path, name: str, script: str) -> None:
    """`kubectl edit`, with an editor that needs nobody."""
    process = await asyncio.create_subprocess_exec(
        *(PROGRAMS[0], "--kubeconfig", kubeconfig, "edit", name),
        env={**os.environ, "KUBE_EDITOR": f"sed -i '{script}'"},
        stdin=asyncio.subprocess.DEVNULL,
    )
    assert await process.wait() == 0


async def test_tables_without_javascript_and_docs_are_read_by_everybody(
    browser: Any, client: Client, tmp_path: Path
) -> None:
    await client.create(Node(metadata=ObjectMeta(name="berlin", labels={"hall": "h1"})))
    async with real_console(browser, tmp_path / "kubeconfig") as looking:
        for path in READABLE:
            await looking.page.goto(looking.url + path)
            await looking.page.get_by_role("heading", level=1).wait_for()
            assert await violations(looking) == [], path
        async with viewer(browser, looking.url, java_script_enabled=False) as without:
            await without.page.goto(f"{looking.url}/nodes")
            await without.page.get_by_role("link", name="The same as plain tables").click()
            await without.page.get_by_role("link", name="Nodes").click()
            await without.page.get_by_role("cell", name="berlin", exact=True).wait_for()
            await without.page.get_by_role("link", name="open").click()
            await without.page.get_by_text("hall: h1").first.wait_for()


async def test_a_browser_shows_its_token_once_and_a_wrong_one_leads_nowhere(
    browser: Any, client: Client, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    kubeconfig = tmp_path / "kubeconfig"
    async with real_console(browser, kubeconfig, token_file=tmp_path / "token") as looking:
        await looking.page.goto(f"{looking.url}/nodes")
        for token in ("wrong", TOKEN):
            await looking.page.get_by_label("Token").fill(token)
            await looking.page.get_by_role("button", name="Sign in").click()
            if token == "wrong":
                await looking.page.get_by_role("alert").get_by_text("not good").wait_for()
        await looking.live()
        assert TOKEN not in looking.page.url
        await looking.open("/nodes")
        assert await looking.page.evaluate("document.cookie") == ""


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
            await looking.page.get_by_text("Nothing is live since").wait_for()
            await looking.page.get_by_text("the API server is silent").first.wait_for()
            assert await row.count() == 1

            await asyncio.to_thread(cluster.start)
            await client.create(Node(metadata=ObjectMeta(name="paris")))
            await looking.page.locator("[role=grid] .canvas .row", has_text="paris").wait_for()
            await looking.page.wait_for_selector("#live[data-live=live]")
            assert await row.evaluate("(row) => row.known")
