"""What a webhook's configuration can make the API server do: post a review over HTTPS, no more.

Whoever may write such a configuration chooses the address, as on a real server; so what is sent
there proves nothing, and an answer leads nowhere else.
"""

from __future__ import annotations

import pytest

from quintant.cluster.apiserver.webhooks.dialer import WebhookRequest, WebhookUnreachable
from quintant.cluster.apiserver.webhooks.https_dialer import HttpsDialer
from quintant.http.request import Request
from quintant.http.response import Response
from unit.cluster.api import api
from unit.cluster.apiserver.webhooks.test_https_dialer import AUTHORITY, server
from unit.cluster.stub_webhooks import REGISTRATION, rule

pytestmark = pytest.mark.realtime

MOST_BYTES = 1024 * 1024


class Heard:
    """Answers with a redirection, and remembers what it was asked."""

    def __init__(self, location: str = "") -> None:
        self.location = location
        self.heads: list[dict[bytes, bytes]] = []

    async def __call__(self, request: Request) -> Response:
        self.heads.append({name.lower(): value for name, value in request.head.fields})
        await request.body(MOST_BYTES)
        return Response(307, {"location": self.location}) if self.location else Response(200, {})


async def test_redirection_is_not_followed_and_nothing_is_proven() -> None:
    inner, dialer = Heard(), HttpsDialer()
    async with server("127.0.0.1", handler=inner) as inside:
        outer = Heard(f"https://{inside}/latest/meta-data")
        async with server("127.0.0.1", handler=outer) as outside:
            asked = WebhookRequest(f"https://{outside}/hook", b"{}", AUTHORITY.certificate)
            reply = await dialer.post(asked)
        dialer.close()
    assert reply.status == 307
    assert inner.heads == []
    (head,) = outer.heads
    assert head.keys().isdisjoint({b"authorization", b"cookie", b"x-remote-user"})


async def test_server_that_the_bundle_does_not_vouch_for_is_told_nothing() -> None:
    heard, dialer = Heard(), HttpsDialer()
    async with server("127.0.0.1", handler=heard) as address:
        with pytest.raises(WebhookUnreachable):
            await dialer.post(WebhookRequest(f"https://{address}/", b"secret", b""))
    dialer.close()
    assert heard.heads == []


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.1:10250/",
        "file:///etc/passwd",
        "https://user:secret@127.0.0.1/",
        "https://127.0.0.1/#a",
        "https://127.0.0.1/?a=b",
        "gopher://127.0.0.1/",
    ],
)
async def test_address_that_is_not_plain_https_is_refused_with_its_configuration(url: str) -> None:
    webhook = {
        "name": "a.example.com",
        "rules": [rule("pods")],
        "clientConfig": {"url": url},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    body = {"metadata": {"name": "a"}, "webhooks": [webhook]}
    await api().create(f"{REGISTRATION}/validatingwebhookconfigurations", body, code=422)
