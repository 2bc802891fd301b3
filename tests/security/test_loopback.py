"""What listens on loopback: shows nothing to strangers, and obeys no web page."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import patience
from node.node_fixture import fetch
from quintant.http.hosts import allowed_host, allowed_origin
from quintant.http.response import Response, text_response
from quintant.http.routes import exact_path, route_by_path
from quintant.http.server import serving

pytestmark = pytest.mark.realtime

HOST = "127.0.0.1"
PATIENCE_SECONDS = 60.0
CHANGES = ("/sicken", "/unready", "/exit", "/fill", "/print")
REBOUND = "page.example.com"
"""A name whose owner decides that it is 127.0.0.1."""


@asynccontextmanager
async def echo(*arguments: str) -> AsyncIterator[int]:
    """A program as it is shipped; its port."""
    command = (sys.executable, "-m", "quintant", "agent", "echo", "--listen", HOST, "--port", "0")
    program = await asyncio.create_subprocess_exec(
        *command, *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert program.stdout is not None
    try:
        async with patience.within(PATIENCE_SECONDS):
            line = await program.stdout.readline()
        yield int(line.decode().rpartition(":")[2])
    finally:
        program.kill()
        await program.wait()


async def test_echo_gives_no_file_of_its_user_away(tmp_path: Path) -> None:
    key = tmp_path / "admin.key"
    key.write_text("the admin's key")
    async with echo() as port:
        for path in (f"/read?path={key}", f"/read?path=/../../../../../{key}"):
            assert "the admin's key" not in (await fetch(HOST, port, path))[1]


async def test_echo_gives_no_variable_of_its_environment_away() -> None:
    async with echo() as port:
        status, text = await fetch(HOST, port, "/env?name=PATH")
    assert '"path": "/env"' in text, f"an answer as to any other path, not {status} {text}"


@pytest.mark.parametrize("path", CHANGES)
async def test_echo_changes_nothing_for_a_get(path: str) -> None:
    async with echo() as port:
        assert (await fetch(HOST, port, path))[0] == 405
        assert (await fetch(HOST, port, "/healthz"))[0] == 200
        assert (await fetch(HOST, port, "/readyz"))[0] == 200


async def test_echo_answers_no_page_that_points_its_own_name_at_this_machine() -> None:
    async with echo() as port:
        assert (await fetch(HOST, port, "/", name=f"{REBOUND}:{port}"))[0] == 403
        assert (await fetch(HOST, port, "/exit", method="POST", name=REBOUND))[0] == 403
        assert (await fetch(HOST, port, "/", name=f"{HOST}:{port}"))[0] == 200


async def test_echo_is_told_nothing_by_a_page_from_elsewhere() -> None:
    async with echo() as port:
        name = f"{HOST}:{port}\r\norigin: https://{REBOUND}"
        assert (await fetch(HOST, port, "/exit", method="POST", name=name))[0] == 403
        assert (await fetch(HOST, port, "/healthz"))[0] == 200


async def test_echo_answers_to_a_name_that_it_was_told() -> None:
    async with echo("--host", REBOUND) as port:
        assert (await fetch(HOST, port, "/", name=REBOUND))[0] == 200


@pytest.mark.parametrize("name", [REBOUND, "evil.svc.example.com", "127.0.0.1.example.com"])
async def test_no_small_server_answers_a_foreign_host_over_loopback(name: str) -> None:
    """Probes, metrics and the admin pages of relays and tunnels are all made of this."""

    def secret() -> Response:
        return text_response("secret")

    pages = route_by_path({"metrics": exact_path(secret)})
    async with serving(pages, HOST, 0) as (_, port):
        status, text = await fetch(HOST, port, "/metrics", name=name)
        assert (status, "secret" in text) == (403, False)
        assert (await fetch(HOST, port, "/metrics", name=f"{HOST}:{port}"))[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "10.1.2.3:8080", "[::1]:8080", "[fd00::7]", "localhost", "LOCALHOST:80",
        "hello.relay.localhost:8443", "web", "web:80", "web.shop.svc",
        "web.shop.svc.cluster.local.", "10-0-0-1.shop.pod.cluster.local", "",
    ],
)  # fmt: skip
def test_addresses_and_names_of_a_cluster_are_answered(host: str) -> None:
    assert allowed_host(host)


@pytest.mark.parametrize(
    "host",
    [
        "example.com", "localhost.example.com", "1.2.3.4.example.com", "0x7f.1", "127.1",
        "svc.example.com", "web.svc.evil.org", "a.cluster.local.evil.org", "evil.org#.localhost:x",
    ],
)  # fmt: skip
def test_names_that_somebody_may_own_are_not_answered(host: str) -> None:
    assert not allowed_host(host)


def test_a_page_that_hides_its_origin_is_one_from_elsewhere() -> None:
    assert not allowed_origin("null")
    assert not allowed_origin("https://user@localhost.example.com")
    assert allowed_origin("https://hello.relay.localhost:8443")
