from __future__ import annotations

import socket

import aiohttp
import pytest

from quintant.core.address import BindAddress
from quintant.metrics import CONTENT_TYPE
from quintant.runtime.manager.health import HealthChecks
from quintant.runtime.manager.probes import ProbeServer
from quintant.runtime.observe.metrics import Metrics

LOCAL = "127.0.0.1:0"

pytestmark = pytest.mark.realtime


async def fetch(address: BindAddress | None, path: str, method: str = "GET") -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as http,
        http.request(method, f"http://{address}{path}") as reply,
    ):
        return reply.status, await reply.text()


async def test_probes_answer_for_the_health_of_the_process() -> None:
    health = HealthChecks()
    async with ProbeServer(health, Metrics()).serve(LOCAL, "") as ports:
        assert ports.metrics is None
        assert await fetch(ports.probes, "/healthz") == (200, "ok\n")
        assert await fetch(ports.probes, "/readyz") == (200, "ok\n")

        health.stopping = True
        status, text = await fetch(ports.probes, "/readyz")
        assert status == 500
        assert "[-]shutdown failed: the process is stopping" in text


async def test_verbose_probe_lists_the_checks_and_exclude_leaves_one_out() -> None:
    health = HealthChecks()
    health.add_readiness_check("database", lambda: "no connection")
    async with ProbeServer(health, Metrics()).serve(LOCAL, "") as ports:
        assert await fetch(ports.probes, "/readyz?verbose&exclude=database") == (
            200,
            "[+]shutdown ok\nreadyz check passed\n",
        )


async def test_single_check_has_a_path_of_its_own() -> None:
    health = HealthChecks()
    health.add_readiness_check("deployments.apps", lambda: "403 Forbidden")
    async with ProbeServer(health, Metrics()).serve(LOCAL, "") as ports:
        status, text = await fetch(ports.probes, "/readyz/deployments.apps")
        assert (status, "403 Forbidden" in text) == (500, True)
        assert await fetch(ports.probes, "/readyz/shutdown/") == (200, "ok\n")
        assert (await fetch(ports.probes, "/readyz/nonsense"))[0] == 404


async def test_metrics_are_served_on_a_port_of_their_own() -> None:
    metrics = Metrics()
    metrics.controller("portal").error()
    async with ProbeServer(HealthChecks(), metrics).serve(LOCAL, "localhost:0") as ports:
        assert ports.probes != ports.metrics
        status, text = await fetch(ports.metrics, "/metrics")
        assert status == 200
        assert 'controller_runtime_reconcile_errors_total{controller="portal"} 1.0' in text
        assert (await fetch(ports.probes, "/metrics"))[0] == 404
        assert (await fetch(ports.metrics, "/healthz"))[0] == 404
        assert (await fetch(ports.metrics, "/metrics/more"))[0] == 404


async def greet(path: str) -> bytes | None:
    return b'{"hello": "%s"}' % path.encode() if path != "nobody" else None


async def test_sheets_of_the_program_are_beside_its_metrics() -> None:
    async with ProbeServer(HealthChecks(), Metrics(), {"greetings": greet}).serve(
        "", LOCAL
    ) as ports:
        assert await fetch(ports.metrics, "/greetings/a/b") == (200, '{"hello": "a/b"}')
        assert (await fetch(ports.metrics, "/greetings/nobody"))[0] == 404
        assert (await fetch(ports.metrics, "/greetings", "POST"))[0] == 405
        assert (await fetch(ports.metrics, "/metrics"))[0] == 200


async def test_metrics_name_their_format() -> None:
    async with (
        ProbeServer(HealthChecks(), Metrics()).serve("", LOCAL) as ports,
        aiohttp.ClientSession() as http,
        http.get(f"http://{ports.metrics}/metrics") as reply,
    ):
        assert reply.headers["content-type"] == CONTENT_TYPE


async def test_equal_addresses_share_one_server() -> None:
    async with ProbeServer(HealthChecks(), Metrics()).serve(LOCAL, LOCAL) as ports:
        assert ports.probes == ports.metrics
        assert (await fetch(ports.probes, "/readyz"))[0] == 200
        assert (await fetch(ports.probes, "/metrics"))[0] == 200


async def test_head_answers_without_a_body_and_writes_are_refused() -> None:
    async with ProbeServer(HealthChecks(), Metrics()).serve(LOCAL, "") as ports:
        assert await fetch(ports.probes, "/healthz", "HEAD") == (200, "")
        assert (await fetch(ports.probes, "/healthz", "POST"))[0] == 405
        assert (await fetch(ports.probes, "/", "GET"))[0] == 404


async def test_nothing_listens_when_both_are_switched_off() -> None:
    async with ProbeServer(HealthChecks(), Metrics()).serve("", "") as ports:
        assert (ports.probes, ports.metrics) == (None, None)


async def test_everything_is_shown_at_a_socket_that_was_handed_down() -> None:
    metrics = Metrics()
    metrics.controller("portal").error()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = BindAddress(*listening.getsockname())
        async with ProbeServer(HealthChecks(), metrics, {"greetings": greet}).serve_on(listening):
            assert await fetch(address, "/readyz") == (200, "ok\n")
            assert 'controller="portal"' in (await fetch(address, "/metrics"))[1]
            assert (await fetch(address, "/metrics/more"))[0] == 404
            assert (await fetch(address, "/greetings/all"))[0] == 200
