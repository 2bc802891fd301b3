"""Which webhooks an API server believes: certificates as test kits and cert-manager make them.

Go decides that on a real server: every certificate of a caBundle is an anchor.
"""

from __future__ import annotations

import re
import ssl
from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from conformance.hooks import (
    GOODBYE_SECONDS,
    MOST_BYTES,
    NAMESPACE_LABEL,
    REGISTRATION,
    reviewed,
    rule,
)
from conformance.target import Target, decoded, definition, until
from quintant.client.transport import ApiResponse
from quintant.core.address import BindAddress
from quintant.http.request import Request
from quintant.http.response import Response
from quintant.keys import tls
from quintant.runtime.observe.listen import listen
from unit.cluster.api import CRDS, JsonObject
from unit.cluster.certificates import ANY, CLIENT, SERVES, SIGNS, Issued, authority, issue, server

NOW, DAY = datetime.now(UTC), timedelta(days=1)
ROOT = authority("root")
OTHER = authority("root")
"""Of the same name, with another key."""
OLD = authority("old", since=NOW - 3 * DAY, until=NOW - DAY)
MIDDLE = authority("middle", ROOT)
SHORT = authority("short", longest=0)
BELOW = authority("below", SHORT)
SILENT = issue("silent", ca=True)
LAX = issue("lax", usages=(SIGNS,))
IDLE = authority("idle", usages=(SERVES,))
PRIVATE = authority("private", extended=(CLIENT,))
PLAIN = server(ROOT)
SELF = server()
CLIENTS = server(extended=(CLIENT,))
ITSELF = authority("itself", names=("127.0.0.1",))
LOCAL = authority("local", permitted="localhost")
REMOTE = authority("remote", permitted="example.com")
BARRED = authority("barred", excluded="localhost")
HOST = ("localhost",)

_UNKNOWN = "certificate signed by unknown authority"
_SIGNS_NOT = "x509: invalid signature: parent certificate cannot sign this kind of certificate"
_EXPIRED = "certificate has expired or is not yet valid: current time T is"
_NOT_FOR = (
    "a root or intermediate certificate is not authorized to sign for this name: "
    'DNS name "localhost"'
)


def tried(why: str, name: str) -> str:
    text = f'while trying to verify candidate authority certificate "{name}"'
    return f'{_UNKNOWN} (possibly because of "{why}" {text})'


Case = tuple[Sequence[Issued], Sequence[Issued], str, str]
"""What the server shows, the bundle, the host of the URL, and why it is not believed."""
CASES: dict[str, Case] = {
    "its authority": ([PLAIN], [ROOT], "", ""),
    "the serving certificate itself": ([PLAIN], [PLAIN], "", ""),
    "self-signed": ([SELF], [SELF], "", ""),
    "an authority that serves": ([ITSELF], [ITSELF], "", ""),
    "without usages": ([issue("a", ROOT, names=("127.0.0.1",))], [ROOT], "", ""),
    "for anything": ([server(ROOT, extended=(ANY,))], [ROOT], "", ""),
    "only for signing": ([server(ROOT, usages=(SIGNS,))], [ROOT], "", ""),
    "authority in between": ([server(MIDDLE), MIDDLE], [ROOT], "", ""),
    "authority in between trusted": ([server(MIDDLE)], [MIDDLE], "", ""),
    "authority without usages": ([server(SILENT)], [SILENT], "", ""),
    "one of two authorities": ([PLAIN], [OTHER, ROOT], "", ""),
    "a name": ([server(ROOT, HOST)], [ROOT], "localhost", ""),
    "a name in capitals": ([server(ROOT, ("LOCALHOST",))], [ROOT], "localhost", ""),
    "a permitted name": ([server(LOCAL, HOST)], [LOCAL], "localhost", ""),
    "another authority": ([PLAIN], [authority("other")], "", _UNKNOWN),
    "authority with another key": (
        *([PLAIN], [OTHER], ""),
        tried("x509: ECDSA verification failure", "root"),
    ),
    "nothing in between": ([server(MIDDLE)], [ROOT], "", _UNKNOWN),
    "no authority": ([server(LAX)], [LAX], "", tried(_SIGNS_NOT, "lax")),
    "authority that may not sign": ([server(IDLE)], [IDLE], "", tried(_SIGNS_NOT, "idle")),
    "too long": (
        *([server(BELOW), BELOW], [SHORT], ""),
        "too many intermediates for path length constraint",
    ),
    "for clients": (
        *([server(ROOT, extended=(CLIENT,))], [ROOT], ""),
        "certificate specifies an incompatible key usage",
    ),
    "itself for clients": (
        *([CLIENTS], [CLIENTS], ""),
        "certificate specifies an incompatible key usage",
    ),
    "authority for clients": (
        *([server(PRIVATE)], [PRIVATE], ""),
        "certificate specifies an incompatible key usage",
    ),
    "expired": (
        *([server(ROOT, since=NOW - 3 * DAY, until=NOW - DAY)], [ROOT], ""),
        f"{_EXPIRED} after T",
    ),
    "not yet valid": (
        *([server(ROOT, since=NOW + DAY, until=NOW + 2 * DAY)], [ROOT], ""),
        f"{_EXPIRED} before T",
    ),
    "expired authority": ([server(OLD)], [OLD], "", f"{_EXPIRED} after T"),
    "common name alone": (
        *([issue("localhost", ROOT)], [ROOT], "localhost"),
        "certificate relies on legacy Common Name field, use SANs instead",
    ),
    "no names": (
        *([issue("a", ROOT)], [ROOT], "localhost"),
        "certificate is not valid for any names, but wanted to match localhost",
    ),
    "another name": (
        *([server(ROOT, ("a.example.com", "*.example.com"))], [ROOT], "localhost"),
        "certificate is valid for a.example.com, *.example.com, not localhost",
    ),
    "a wildcard for everything": (
        *([server(ROOT, ("*",))], [ROOT], "localhost"),
        "certificate is valid for *, not localhost",
    ),
    "name for an address": (
        *([server(ROOT, HOST)], [ROOT], ""),
        "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
    ),
    "address as a name": (
        *([issue("127.0.0.1", ROOT)], [ROOT], ""),
        "certificate relies on legacy Common Name field, use SANs instead",
    ),
    "another address": (
        *([server(ROOT, ("127.0.0.2", "::1"))], [ROOT], ""),
        "certificate is valid for 127.0.0.2, ::1, not 127.0.0.1",
    ),
    "a name that is not permitted": (
        *([server(REMOTE, HOST)], [REMOTE], "localhost"),
        f"{_NOT_FOR} is not permitted by any constraint",
    ),
    "an excluded name": (
        *([server(BARRED, HOST)], [BARRED], "localhost"),
        f'{_NOT_FOR} is excluded by constraint "localhost"',
    ),
}


async def allowing(request: Request) -> Response:
    review = msgspec.json.decode(await request.body(MOST_BYTES))
    answer = reviewed(review, {"allowed": True, "warnings": ["the webhook was asked"]})
    return Response(200, {"content-type": "application/json"}, answer)


def presenting(shown: Sequence[Issued]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_key_pair(context, shown[0].serving(*shown[1:]))
    return context


def client(at: BindAddress, host: str, bundle: Sequence[Issued]) -> JsonObject:
    pem = b"".join(each.pem for each in bundle)
    url = f"https://{host}:{at.port}/x" if host else f"https://{at}/x"
    return {"url": url, "caBundle": b64encode(pem).decode()}


def configuration(target: Target, config: JsonObject) -> JsonObject:
    entry = {
        "name": "a.hooks.test",
        "clientConfig": config,
        "rules": [rule("configmaps", "CREATE")],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "namespaceSelector": {"matchLabels": {NAMESPACE_LABEL: target.namespace}},
    }
    return {"metadata": {"name": f"a.{target.namespace}"}, "webhooks": [entry]}


async def outcome(target: Target) -> ApiResponse:
    """The answer to a rehearsal, once the webhook is asked or fails to be."""
    obj = {"metadata": {"name": "a"}}

    async def attempt() -> ApiResponse:
        return await target.send("POST", target.path("configmaps"), obj, dryRun="All")

    return await until(attempt, lambda reply: reply.status != 201 or "warning" in reply.headers)


def timeless(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "T", text)


@pytest.mark.parametrize("case", CASES)
async def test_a_certificate_is_believed_by_the_rules_of_go(target: Target, case: str) -> None:
    shown, bundle, host, why = CASES[case]
    path = f"{REGISTRATION}/validatingwebhookconfigurations"
    at = BindAddress("127.0.0.1", 0)
    async with listen(allowing, at, presenting(shown), goodbye=GOODBYE_SECONDS) as address:
        config = client(address, host, bundle)
        await target.create(path, configuration(target, config))
        reply = await outcome(target)
        await target.delete(f"{path}/a.{target.namespace}")
    if not why:
        assert reply.status == 201, reply.body
        return
    post = f'Post "{config["url"]}?timeout=10s": tls: failed to verify certificate: x509: {why}'
    failed = (
        'Internal error occurred: failed calling webhook "a.hooks.test": failed to call webhook'
    )
    assert (reply.status, timeless(decoded(reply.body)["message"])) == (500, f"{failed}: {post}")


async def test_a_conversion_webhook_may_be_known_by_its_own_certificate(target: Target) -> None:
    async def converting(request: Request) -> Response:
        review = msgspec.json.decode(await request.body(MOST_BYTES))
        wanted = review["request"]["desiredAPIVersion"]
        objects = [{**obj, "apiVersion": wanted} for obj in review["request"]["objects"]]
        said: dict[str, Any] = {"result": {"status": "Success"}, "convertedObjects": objects}
        return Response(200, {"content-type": "application/json"}, reviewed(review, said))

    group = f"{target.namespace}.example.com"
    at = BindAddress("127.0.0.1", 0)
    async with listen(converting, at, presenting([PLAIN]), goodbye=GOODBYE_SECONDS) as address:
        body = definition(group)
        (first,) = body["spec"]["versions"]
        body["spec"]["versions"].append({**first, "name": "v2", "storage": False})
        webhook = {
            "clientConfig": client(address, "", [PLAIN]),
            "conversionReviewVersions": ["v1"],
        }
        body["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
        await target.create(CRDS, body)
        obj = {"apiVersion": f"{group}/v2", "kind": "Foo", "metadata": {"name": "a"}}

        async def attempt() -> ApiResponse:
            return await target.send("POST", target.path("foos", api=f"{group}/v2"), obj)

        reply = await until(attempt, lambda reply: reply.status == 201)
        assert reply.status == 201, reply.body
        await target.delete(f"{CRDS}/foos.{group}")
