"""What a user can make the API server dial, and what it passes on of who asked."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.proxy.html import rewrite_html
from unit.cluster.apiserver.proxy.backend import (
    ADDRESS,
    ROOT,
    Proxied,
    proxied,
    refused,
    split,
    subset,
)

pytestmark = pytest.mark.realtime


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Proxied]:
    async with proxied() as found:
        yield found


@pytest.mark.parametrize(
    "written",
    [
        subset(address="127.0.0.1"),
        subset(pod="other"),
        subset(namespace="kube-system"),
        {"addresses": [{"ip": ADDRESS}], "ports": [{"port": 22}]},
        {"addresses": [{"ip": "169.254.169.254"}], "ports": [{"port": 80}]},
    ],
)
async def test_endpoints_written_by_hand_reach_nothing_but_pods(
    cluster: Proxied, written: dict[str, object]
) -> None:
    await cluster.pod()
    await cluster.service(written)
    response = await cluster.ask(f"{ROOT}/services/web/proxy/x")
    assert refused(response) == (503, 'no endpoints available for service "web"')
    assert cluster.runtime.dialled == []


async def test_an_address_that_a_user_wrote_into_a_status_is_not_dialled(
    cluster: Proxied,
) -> None:
    claimed = [{"ip": "127.0.0.1"}]
    await cluster.pod("fake", runs=False, podIP="127.0.0.1", podIPs=claimed)
    await cluster.service(subset("fake", address="127.0.0.1"))
    response = await cluster.ask(f"{ROOT}/pods/fake:22/proxy/x")
    assert refused(response) == (400, "address not allowed: pod fake is run by no node")
    response = await cluster.ask(f"{ROOT}/services/web/proxy/x")
    assert refused(response) == (503, 'no endpoints available for service "web"')
    assert cluster.runtime.dialled == []


async def test_nothing_that_proves_who_asks_is_passed_on(cluster: Proxied) -> None:
    await cluster.pod()
    lines = (
        "Authorization: Bearer secret",
        "Impersonate-User: admin",
        "X-Remote-User: admin",
        "X-Remote-Extra-Scopes: all",
        "Connection: x-mine",
        "X-Mine: 1",
        "TE: trailers",
        "X-Kept: 1",
    )
    cluster.api.server.tokens.add("secret", User("root", ("system:masters",)))
    assert split(await cluster.ask(f"{ROOT}/pods/web/proxy/x", *lines))[0] == 200
    names = set(cluster.backend.heads[0].index)
    assert b"x-kept" in names
    assert not names & {
        b"authorization", b"impersonate-user", b"x-remote-user", b"x-remote-extra-scopes",
        b"x-mine", b"te",
    }  # fmt: skip


@pytest.mark.parametrize(
    "path", ["/%0d%0aX-Evil:%201/../b", "/%0d%0aX-Evil:%201", "/%00/../x", "/%ff/../x", "//evil/.."]
)
async def test_a_path_is_never_more_than_a_path(cluster: Proxied, path: str) -> None:
    await cluster.pod()
    assert split(await cluster.ask(f"{ROOT}/pods/web/proxy{path}"))[0] == 200
    assert b"x-evil" not in cluster.backend.heads[0].index


async def test_a_length_that_is_there_twice_is_passed_on_once(cluster: Proxied) -> None:
    await cluster.pod()
    lines = ("Content-Length: 3", "Content-Length: 3", "Connection: close")
    reader, writer = await cluster.open("POST", f"{ROOT}/pods/web/proxy/x", *lines, body=b"abc")
    assert split(await reader.read())[0] == 200
    assert cluster.backend.sent("content-length") == ["3"]
    assert cluster.backend.bodies == [b"abc"]
    writer.close()


@pytest.mark.parametrize(
    "piece", ["<a ", "<a href=", "<a x='", '="', "<!--", "<script>", "<a href=' "]
)
async def test_a_page_costs_no_more_than_its_length(piece: str) -> None:
    """With steps in the square of it, these would take hours."""
    page = (piece * (1024 * 1024 // len(piece))).encode()
    assert rewrite_html(page, lambda link: link) == page
