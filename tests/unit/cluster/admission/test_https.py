"""Webhooks over HTTPS are verified, and what goes wrong is told as a real server tells it."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web

from quintant.cluster.admission.dialing import Letter, Unreachable
from quintant.cluster.admission.https import HttpsDialer
from quintant.keys import tls
from quintant.keys.authority import Authority, Term
from quintant.runtime.address import Address
from quintant.runtime.listen import serving

pytestmark = pytest.mark.realtime

NOW = datetime.now(UTC)
TERM = Term(NOW, NOW + timedelta(days=1))
AUTHORITY = Authority.make("hooks", TERM)
LOOPBACK = Address("127.0.0.1", 0)


async def echo(request: web.BaseRequest) -> web.StreamResponse:
    seen = {"path": request.path_qs, "host": request.headers["host"]}
    body = (await request.read()).decode()
    answer = web.json_response({**seen, "body": body}, status=201)
    answer.force_close()
    return answer


@asynccontextmanager
async def server(*names: str, term: Term = TERM) -> AsyncIterator[Address]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.present(context, AUTHORITY.serving(names, term))
    async with serving(echo, LOOPBACK, context) as address:
        yield address


def letter(url: str, bundle: bytes = AUTHORITY.certificate) -> Letter:
    return Letter(url, b"hello", bundle)


async def test_a_letter_arrives_and_the_answer_comes_back() -> None:
    async with server("127.0.0.1") as at:
        reply = await HttpsDialer().post(letter(f"https://{at}/x?timeout=10s"))
    assert reply.status == 201
    assert reply.headers["content-type"].startswith("application/json")
    assert b'"path": "/x?timeout=10s"' in reply.body
    assert b'"body": "hello"' in reply.body


async def test_a_service_is_dialled_at_its_endpoint_and_verified_by_its_name() -> None:
    url = "https://s.n.svc:443/x"
    async with server("s.n.svc") as at:
        sent = Letter(url, b"", AUTHORITY.certificate, lambda: at)
        reply = await HttpsDialer().post(sent)
        assert b'"host": "s.n.svc:443"' in reply.body
        other = Letter("https://t.n.svc:443/x", b"", AUTHORITY.certificate, lambda: at)
        with pytest.raises(Unreachable, match=r"wanted to match t\.n\.svc"):
            await HttpsDialer().post(other)


async def test_a_service_that_leads_nowhere_is_told_with_its_url() -> None:
    def nowhere() -> Address:
        raise Unreachable('service "s" not found')

    with pytest.raises(Unreachable) as refused:
        await HttpsDialer().post(Letter("https://s.n.svc:443/x", b"", b"", nowhere))
    assert str(refused.value) == 'Post "https://s.n.svc:443/x": service "s" not found'


async def test_nobody_is_believed_without_an_authority() -> None:
    stranger = Authority.make("stranger", TERM).certificate
    async with server("127.0.0.1") as at:
        for bundle in (b"", stranger):
            with pytest.raises(Unreachable, match="certificate signed by unknown authority"):
                await HttpsDialer().post(letter(f"https://{at}/x", bundle))


async def test_a_certificate_runs_out() -> None:
    over = Term(NOW - timedelta(days=2), NOW - timedelta(days=1))
    async with server("127.0.0.1", term=over) as at:
        with pytest.raises(Unreachable, match="certificate has expired or is not yet valid"):
            await HttpsDialer().post(letter(f"https://{at}/x"))


async def test_a_bundle_has_to_hold_certificates() -> None:
    with pytest.raises(Unreachable, match="unable to load root certificates"):
        await HttpsDialer().post(letter("https://127.0.0.1:1/x", b"no certificate"))


async def test_a_closed_port_refuses() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(Unreachable) as refused:
        await HttpsDialer().post(letter(f"https://{at}/x"))
    why = f"dial tcp {at}: connect: connection refused"
    assert str(refused.value) == f'Post "https://{at}/x": {why}'


async def test_redirects_are_not_followed() -> None:
    async def elsewhere(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=302, headers={"location": "https://127.0.0.1:1/"})

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.present(context, AUTHORITY.serving(["127.0.0.1"], TERM))
    async with serving(elsewhere, LOOPBACK, context) as at:
        assert (await HttpsDialer().post(letter(f"https://{at}/x"))).status == 302
