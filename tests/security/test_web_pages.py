"""No web page has a server of ours do something: what a browser marks as from elsewhere is refused.

A page needs no answer to do harm: an image or a link whose address is a device's instruction is a
GET. A browser says whence such a request comes, and a page cannot keep it from doing so.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

import quintant
from node.node_fixture import fetch
from quintant.http.request import Request
from quintant.http.response import Response, text_response
from quintant.http.server import serving
from security.test_loopback import echo

pytestmark = pytest.mark.realtime

HOST = "127.0.0.1"
SOURCES = Path(quintant.__file__).parent
NAVIGATION = "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document"
SHOW_ONLY = {
    "agents/relay/admin.py",
    "agents/tunnel/admin.py",
    "console/console.py",
    "kopf/run/probing.py",
    "runtime/manager/probes.py",
}
"""Who shows, and changes nothing: health, metrics, pages about a process."""
OTHER_SERVERS = {
    "agents/broker/program.py": "MQTT",
    "agents/chainsim/program.py": "a protocol of its own between siblings",
    "agents/devices/socket_echo.py": "echoes bytes",
    "agents/deviceshifu/drivers/tcp.py": "forwards bytes",
    "agents/echo.py": "HTTP of its own, with the same rule",
    "agents/relay/relay.py": "forwards; what it forwards says whence it comes",
    "cli/processes/child.py": "hands the socket to its child, which listens as any manager does",
    "cluster/kubeproxy/dns/server.py": "DNS",
    "cluster/kubeproxy/ingress/listeners.py": "forwards; what it forwards says whence it comes",
    "cluster/kubeproxy/tcp.py": "forwards bytes",
    "http/server.py": "this is the rule's home",
}
"""Who listens by itself, and why no page can have it do something."""


def named(site: str, port: int) -> str:
    """A Host, and what a browser says beside it."""
    return f"{HOST}:{port}\r\nSec-Fetch-Site: {site}\r\n{NAVIGATION}"


class Device:
    """Something that a GET moves."""

    def __init__(self) -> None:
        self.moved = 0

    async def handle(self, request: Request) -> Response:
        self.moved += 1
        return text_response("moved")


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
async def test_a_request_of_a_page_from_elsewhere_does_nothing(method: str) -> None:
    device = Device()
    async with serving(device.handle, HOST, 0) as (_, port):
        for site in ("cross-site", "Cross-Site", "none\r\nSec-Fetch-Site: cross-site"):
            status, text = await fetch(HOST, port, "/move", method=method, name=named(site, port))
            assert status == 403
            assert method == "HEAD" or "another site" in text
    assert device.moved == 0


@pytest.mark.parametrize("site", ["none", "same-origin", "same-site"])
async def test_what_a_user_or_a_page_of_its_own_asks_is_answered(site: str) -> None:
    device = Device()
    async with serving(device.handle, HOST, 0) as (_, port):
        assert (await fetch(HOST, port, "/move", name=named(site, port)))[0] == 200
        assert (await fetch(HOST, port, "/move"))[0] == 200, "no browser says nothing of it"
    assert device.moved == 2


async def test_a_server_that_only_shows_may_be_linked_to_and_no_more() -> None:
    page = Device()
    async with serving(page.handle, HOST, 0, shows_only=True) as (_, port):
        site = named("cross-site", port)
        assert (await fetch(HOST, port, "/", name=site))[0] == 200
        assert (await fetch(HOST, port, "/", method="POST", name=site))[0] == 403


async def test_echo_does_nothing_for_a_page_from_elsewhere_unless_it_has_a_public_name() -> None:
    async with echo() as port:
        assert (await fetch(HOST, port, "/", name=named("cross-site", port)))[0] == 403
        assert (await fetch(HOST, port, "/", name=named("none", port)))[0] == 200
    async with echo("--host", "echo.example.com") as port:
        site = named("cross-site", port)
        assert (await fetch(HOST, port, "/", name=site))[0] == 200
        assert (await fetch(HOST, port, "/exit", method="POST", name=site))[0] == 403


@cache
def calls() -> Sequence[tuple[str, ast.Call]]:
    return [
        (str(file.relative_to(SOURCES)), node)
        for file in sorted(SOURCES.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
    ]


def test_no_other_server_says_of_itself_that_it_only_shows() -> None:
    declared = {
        file
        for file, call in calls()
        for each in call.keywords
        if each.arg == "shows_only" and isinstance(each.value, ast.Constant)
    }
    assert declared == SHOW_ONLY


def test_no_other_program_listens_by_itself() -> None:
    ways = ("start_server", "create_server", "start_unix_server", "listen")
    listening = {file for file, call in calls() if getattr(call.func, "attr", "") in ways}
    assert listening == OTHER_SERVERS.keys()
