"""Where the API server asks handlers: a server with a certificate, and the configuration of it.

The configuration is there while the server is: what is not `persistent` is taken out at the end.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import msgspec

from quintant.client.rest import MERGE, Rest
from quintant.client.transport import JSON
from quintant.core.address import BindAddress
from quintant.core.clock import Clock
from quintant.core.errors import AlreadyExists, ConfigError, QuintantError
from quintant.http.connection import Disconnected
from quintant.http.head import ProtocolError
from quintant.http.request import Request
from quintant.http.response import Response
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair, load_key_pair
from quintant.kopf.declare.filters import ABSENT, PRESENT
from quintant.kopf.declare.handlers import Handler, HandlerKind
from quintant.kopf.declare.resource import Resource
from quintant.kopf.declare.webhook_servers import WebhookServer
from quintant.kopf.run.reviews import NoReview, Reviewer
from quintant.runtime.observe.listen import listen
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.webhook.authority import issue_certificate

MOST_BYTES = 8 * 1024 * 1024
"""Of a review: two objects of the largest size that etcd takes, and room."""
CONFIGURATIONS = {
    HandlerKind.VALIDATE: "validatingwebhookconfigurations",
    HandlerKind.MUTATE: "mutatingwebhookconfigurations",
}
_KINDS = {
    HandlerKind.VALIDATE: "ValidatingWebhookConfiguration",
    HandlerKind.MUTATE: "MutatingWebhookConfiguration",
}
_WRONG = re.compile(r"[^a-z0-9.-]")

log: Final = get_logger()


@asynccontextmanager
async def serving(chosen: Any, reviewer: Reviewer, clock: Clock) -> AsyncIterator[dict[str, Any]]:
    """Answer reviews while the context lasts; yields how the API server is to reach it."""
    if not isinstance(chosen, WebhookServer):
        raise ConfigError(
            f"cannot serve webhooks by {type(chosen).__name__}",
            because="it goes through servers of others, or is a class of your own",
            hint="settings.admission.server = kopf.WebhookServer(…)",
        )
    if refused := [name for name in chosen.refused if chosen.get(name)]:
        raise ConfigError(
            f"cannot serve webhooks with {', '.join(refused)}",
            because=f"{type(chosen).__name__} here knows certfile, pkeyfile, cafile and cadump",
        )
    host = chosen.get("host", chosen.default_host)
    pair, bundle = _certificate(chosen, host, clock)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load_key_pair(context, pair)
    if dump := chosen.get("cadump"):
        _write(Path(dump), bundle)
    path = str(chosen.get("path", "")).strip("/")
    address = BindAddress(chosen.get("addr", "127.0.0.1"), int(chosen.get("port", 0)))
    handler = _Handler(reviewer, path)
    async with listen(handler, address, context) as bound:
        url = f"https://{host}:{bound.port}/{path}".rstrip("/")
        yield {"url": url, "caBundle": msgspec.to_builtins(bundle)}


class _Handler:
    def __init__(self, reviewer: Reviewer, path: str) -> None:
        self._reviewer, self._prefix = reviewer, f"/{path}/" if path else "/"

    async def __call__(self, request: Request) -> Response:
        if request.method != "POST" or not request.path.startswith(self._prefix):
            return _plain(404, "reviews are posted to the path of a handler")
        try:
            body = await request.body(MOST_BYTES)
        except (Disconnected, ProtocolError):
            return _plain(400, "the body broke off")
        if len(body) > MOST_BYTES:
            return _plain(413, "the review is too large")
        headers = {"User-Agent": request.field(b"user-agent")}
        try:
            document = msgspec.json.decode(body)
            id = request.path[len(self._prefix) :]
            answer = await self._reviewer.answer(id, document, headers)
        except (msgspec.MsgspecError, UnicodeError, RecursionError, NoReview) as error:
            return _plain(400, str(error))
        return Response(200, {"content-type": JSON}, msgspec.json.encode(answer))


async def configure(
    rest: Rest,
    name: str,
    handlers: Iterable[Handler],
    resources: Iterable[Resource],
    client: Mapping[str, Any],
    *,
    persistent_only: bool = False,
) -> None:
    """Have the configurations of a name ask just these handlers."""
    every, known = list(handlers), list(resources)
    for kind, plural in CONFIGURATIONS.items():
        wanted = [
            each for each in every if each.kind is kind and (each.persistent or not persistent_only)
        ]
        webhooks = [_webhook(each, known, client, name) for each in wanted]
        await _store(rest, kind, plural, name, [each for each in webhooks if each["rules"]])


async def withdraw(
    rest: Rest,
    name: str,
    handlers: Iterable[Handler],
    resources: Iterable[Resource],
    client: Mapping[str, Any],
) -> None:
    """Have the configurations ask no handlers any more, but those that persist."""
    try:
        async with asyncio.timeout(5.0):
            await configure(rest, name, handlers, resources, client, persistent_only=True)
    except (QuintantError, TimeoutError) as error:
        log.error("webhooks not withdrawn", configuration=name, why=str(error))


async def _store(
    rest: Rest, kind: HandlerKind, plural: str, name: str, webhooks: list[dict[str, Any]]
) -> None:
    path = f"/apis/admissionregistration.k8s.io/v1/{plural}"
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": _KINDS[kind],
        "metadata": {"name": name},
    }
    headers = {"content-type": JSON, "accept": JSON}
    try:
        call = rest.write_call("POST", path, {}, headers, msgspec.json.encode(body))
        await rest.send(call)
    except AlreadyExists:
        pass
    patch = msgspec.json.encode({"webhooks": webhooks})
    headers = {"content-type": MERGE, "accept": JSON}
    await rest.send(rest.write_call("PATCH", f"{path}/{name}", {}, headers, patch))


def _webhook(
    handler: Handler, resources: list[Resource], client: Mapping[str, Any], suffix: str
) -> dict[str, Any]:
    sub = f"/{handler.subresource}" if handler.subresource else ""
    rules = [
        {
            "apiGroups": [each.group],
            "apiVersions": [each.version],
            "resources": [f"{each.plural}{sub}"],
            "operations": list(handler.operations or ["*"]),
            "scope": "*",
        }
        for each in resources
        if handler.selector is not None and handler.selector.matches(each)
    ]
    return {
        "name": f"{_hook_name(handler.id)}.{suffix}",
        "sideEffects": "NoneOnDryRun" if handler.side_effects else "None",
        "failurePolicy": "Ignore" if handler.ignore_failures else "Fail",
        "matchPolicy": "Equivalent",
        "rules": rules,
        "objectSelector": _selector(handler.labels),
        "clientConfig": {**client, "url": f"{client['url']}/{quote(handler.id)}"},
        "timeoutSeconds": 30,
        "admissionReviewVersions": ["v1", "v1beta1"],
    }


def _selector(labels: Mapping[str, Any] | None) -> dict[str, Any] | None:
    wanted: list[dict[str, Any]] = []
    for key, value in (labels or {}).items():
        if value is PRESENT:
            wanted.append({"key": key, "operator": "Exists"})
        elif value is ABSENT:
            wanted.append({"key": key, "operator": "DoesNotExist"})
        elif not callable(value):
            wanted.append({"key": key, "operator": "In", "values": [str(value)]})
    return {"matchExpressions": wanted} if wanted else None


def _hook_name(id: str) -> str:
    plain = id.replace("/", ".").replace("_", "-").lower()
    return _WRONG.sub(lambda match: match.group().encode().hex(), plain)


def _certificate(chosen: WebhookServer, host: str, clock: Clock) -> tuple[KeyPair, bytes]:
    """The certificate that is shown, and whom to trust for it."""
    given = chosen.get("certfile"), chosen.get("pkeyfile")
    if given == (None, None):
        names = list(dict.fromkeys([host, "localhost", "127.0.0.1", *chosen.get("extra_sans", ())]))
        made = issue_certificate(names, clock.now())
        return made.pair, made.authority
    certificate, key = (Path(each).read_bytes() for each in given if each is not None)
    authority = chosen.get("cafile")
    bundle = Path(authority).read_bytes() if authority else certificate
    return KeyPair(Sensitive(certificate), Sensitive(key)), bundle


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _plain(status: int, message: str) -> Response:
    return Response(status, {"content-type": "text/plain; charset=utf-8"}, message.encode())
