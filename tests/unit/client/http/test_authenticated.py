"""Promises of quintant.client.http.authenticated, against an embedded API server."""

from __future__ import annotations

from pathlib import Path

from quintant.client.config.credentials import Credential, StaticCredential, bearer_header
from quintant.client.config.tokens import TokenFileCredential
from quintant.client.http.authenticated import SignedTransport
from quintant.client.transport import ApiRequest, InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock
from quintant.keys.sensitive import Sensitive
from quintant.testing.loop import advance

LIST = ApiRequest("GET", "/api/v1/pods")
WATCH = ApiRequest("GET", "/api/v1/pods", {"watch": "1"})


def served() -> ApiServer:
    server = ApiServer(clock=LoopClock(), rbac=True)
    server.tokens.add("one", admin("jo"))
    return server


def fixed(server: ApiServer, token: str) -> SignedTransport:
    return SignedTransport(
        InProcessTransport(server), StaticCredential(Credential(bearer_header(Sensitive(token))))
    )


async def test_requests_and_streams_are_made_as_somebody() -> None:
    server = served()
    transport = fixed(server, "one")
    assert (await transport.request(LIST)).status == 200
    async with transport.stream(WATCH) as stream:
        assert stream.status == 200
    assert {record.user for record in server.audit} == {"jo"}


async def test_refused_token_is_read_again_within_the_request_and_the_stream(
    tmp_path: Path,
) -> None:
    server, path = served(), tmp_path / "token"
    path.write_text("one")
    transport = SignedTransport(InProcessTransport(server), TokenFileCredential(path))
    assert (await transport.request(LIST)).status == 200
    for before, after in (("one", "two"), ("two", "three")):
        await advance(1)
        path.write_text(after)
        server.tokens.revoke(before)
        server.tokens.add(after, admin("jo"))
        if after == "two":
            assert (await transport.request(LIST)).status == 200
        else:
            async with transport.stream(WATCH) as stream:
                assert stream.status == 200

    assert [record.code for record in server.audit] == [200, 401, 200, 401, 200]


async def test_refusal_stands_when_there_is_nothing_newer_to_show() -> None:
    server = served()
    transport = fixed(server, "wrong")
    assert (await transport.request(LIST)).status == 401
    async with transport.stream(WATCH) as stream:
        assert stream.status == 401
    assert len(server.audit) == 2


async def test_headers_of_the_call_are_kept() -> None:
    server = served()
    call = ApiRequest("GET", "/api/v1/pods", headers={"impersonate-user": "ada"})
    await fixed(server, "one").request(call)
    assert [record.user for record in server.audit] == ["ada"]
