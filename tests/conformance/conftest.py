"""Both servers for every check: the embedded one, new for each, and a real one for the whole run.

A check takes `target` and is run once on each. At the end a table shows both answers side by side.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio

from conformance.controller_cluster import ControllerCluster, prepared
from conformance.secured_server import SecuredServer, opened, term
from conformance.target import Target
from envtest import RealCluster
from quintant import Config
from quintant.client.http.transport import HttpTransport
from quintant.cluster.apiserver.server.https import LOOPBACK, serve
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.cluster.instance.pki import ClusterKeys
from quintant.core.address import BindAddress
from quintant.keys.authority import Authority

SERVERS = ("embedded", "real")
UNTHROTTLED = ("--kube-api-qps=1000", "--kube-api-burst=1000")
"""Real controllers keep to 20 requests a second by themselves: checks would only wait longer."""
RECOUNTING = ("--resource-quota-sync-period=3s",)
"""A real count that was made from an old view stays for five minutes otherwise."""
_WIDTH = 72


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"real": asyncio.new_event_loop}


@pytest.fixture(scope="package")
def real_cluster() -> Iterator[RealCluster]:
    with RealCluster() as cluster:
        yield cluster


@pytest_asyncio.fixture(params=SERVERS)
async def target(request: pytest.FixtureRequest) -> AsyncIterator[Target]:
    """A server to be checked, with an empty namespace."""
    if request.param == "embedded":
        async with serve(ApiServer()) as url, _opened(Config(url)) as found:
            yield found
    else:
        cluster: RealCluster = request.getfixturevalue("real_cluster")
        async with _opened(Config.load(cluster.kubeconfig)) as found:
            yield found


@pytest.fixture(scope="package")
def clients() -> Authority:
    """Signs the certificates of clients."""
    return Authority.make("clients", term())


@pytest.fixture(scope="package")
def secured_cluster(
    clients: Authority, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealCluster]:
    """A real cluster that believes our client certificates, with its controllers."""
    trusted = tmp_path_factory.mktemp("clients") / "ca.crt"
    trusted.write_bytes(clients.certificate)
    flags = (f"--client-ca-file={trusted}",)
    with RealCluster(
        controllers=True, apiserver=flags, manager=UNTHROTTLED + RECOUNTING
    ) as cluster:
        yield cluster


@pytest_asyncio.fixture(params=SERVERS)
async def secured(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SecuredServer]:
    """A server that enforces roles, over TLS, with an empty namespace."""
    namespace = f"check-{uuid4().hex[:8]}"
    if request.param == "embedded":
        roots = ClusterKeys.generate(datetime.now(UTC))
        async with run_cluster(ClusterConfig(BindAddress(LOOPBACK, 0), roots)) as cluster:
            save_kubeconfig(cluster, tmp_path / "kubeconfig")
            config = Config.load(tmp_path / "kubeconfig")
            async with opened(SecuredServer(config, roots.authority, namespace)) as found:
                yield found
    else:
        real: RealCluster = request.getfixturevalue("secured_cluster")
        # A cluster that somebody else started believes other certificates.
        authority = request.getfixturevalue("clients") if real.pids else None
        config = Config.load(real.kubeconfig)
        async with opened(SecuredServer(config, authority, namespace)) as found:
            yield found


@pytest_asyncio.fixture(params=SERVERS)
async def cluster(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[ControllerCluster]:
    """A cluster with its controllers, an empty namespace, and a kubelet that runs its pods."""
    namespace = f"check-{uuid4().hex[:8]}"
    if request.param == "embedded":
        async with run_cluster(
            ClusterConfig(BindAddress(LOOPBACK, 0), controllers=True)
        ) as cluster:
            save_kubeconfig(cluster, tmp_path / "kubeconfig")
            async with prepared(ControllerCluster(tmp_path / "kubeconfig", namespace)) as found:
                yield found
    else:
        real: RealCluster = request.getfixturevalue("secured_cluster")
        async with prepared(ControllerCluster(real.kubeconfig, namespace)) as found:
            yield found


@asynccontextmanager
async def _opened(config: Config) -> AsyncIterator[Target]:
    transport = HttpTransport(config)
    try:
        found = Target(transport, f"check-{uuid4().hex[:8]}")
        await found.create("/api/v1/namespaces", {"metadata": {"name": found.namespace}})
        yield found
    finally:
        await transport.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show every check with both answers."""
    table: dict[str, dict[str, str]] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.getreports(outcome):
            _note(table, report, outcome)
    if not table:
        return
    terminalreporter.section("conformance")
    for check, answers in sorted(table.items()):
        shown = "  ".join(f"{answers.get(server, '-'):8}" for server in SERVERS)
        terminalreporter.write_line(f"{check:{_WIDTH}.{_WIDTH}}  {shown}")
    same = sum(set(answers.values()) == {"passed"} for answers in table.values())
    terminalreporter.write_line(f"{same} of {len(table)} checks pass on every server they ran on")


def _note(table: dict[str, dict[str, str]], report: pytest.TestReport, outcome: str) -> None:
    path, _, name = report.nodeid.rpartition("::")
    check, bracket, case = name.partition("[")
    if "conformance/" not in path or not bracket or report.when == "teardown":
        return
    parts = case.rstrip("]").split("-")
    server = next((part for part in parts if part in SERVERS), "")
    rest = "-".join(part for part in parts if part not in (*SERVERS, "real"))
    group = path.rpartition("/")[2].removeprefix("test_").removesuffix(".py")
    words = f"{check.removeprefix('test_').replace('_', ' ')}{f' [{rest}]' if rest else ''}"
    # A check that has no server in its name compares both.
    for each in (server,) if server else SERVERS:
        table.setdefault(f"{group}: {words}", {})[each] = outcome
