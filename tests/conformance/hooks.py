"""A webhook server on loopback that checks control, and the configurations that lead to it.

Every hook has a path of its own and a function from the request to the response; what it was asked
is kept. `Hooks.install` returns once the server under test really calls: a real one needs a moment.
"""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from inspect import isawaitable
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from conformance.target import Target
from quintant.core.address import BindAddress
from quintant.http.connection import Disconnected
from quintant.http.request import Request
from quintant.http.response import Response as Said
from quintant.keys import tls
from quintant.keys.authority import Authority, Validity
from quintant.runtime.observe.listen import listen
from unit.cluster.api import JsonObject

REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
NAMESPACE_LABEL = "kubernetes.io/metadata.name"
PROBE = "probe.example.com"
POLL_SECONDS = 0.05
PATIENCE_SECONDS = 30.0
GOODBYE_SECONDS = 0.1
MOST_BYTES = 64 * 1024 * 1024

Answer = Callable[[JsonObject], Any]
"""From a request to a response, raw bytes or a whole HTTP response, now or later."""


def allow(request: JsonObject) -> JsonObject:
    return {"allowed": True}


def deny(message: str | None = None, code: int | None = None, **more: Any) -> Answer:
    """A denial with as much explanation as is given."""
    status = {"message": message, "code": code, **more}
    said = {name: value for name, value in status.items() if value is not None}
    return lambda request: {"allowed": False, **({"status": said} if said else {})}


def patch(*operations: JsonObject) -> Answer:
    """An allowance with a JSON patch."""
    raw = b64encode(msgspec.json.encode(list(operations))).decode()
    return lambda request: {"allowed": True, "patch": raw, "patchType": "JSONPatch"}


def rule(resources: str, operations: str = "*", group: str = "", version: str = "*") -> JsonObject:
    return {
        "operations": operations.split(),
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": resources.split(),
    }


EVERYTHING = {
    "operations": ["*"],
    "apiGroups": ["*"],
    "apiVersions": ["*"],
    "resources": ["*/*"],
}


@dataclass
class Asked:
    """What a hook was asked: the review, and how it came."""

    review: JsonObject
    query: JsonObject

    @property
    def request(self) -> JsonObject:
        found: JsonObject = self.review["request"]
        return found


@dataclass
class Hook:
    """One webhook."""

    name: str
    answer: Answer = allow
    asked: list[Asked] = field(default_factory=list)
    delay: float = 0.0
    raw: bytes | None = None
    """Written in place of an answer, before the connection ends."""

    @property
    def requests(self) -> list[JsonObject]:
        return [each.request for each in self.asked]

    @property
    def last(self) -> JsonObject:
        return self.asked[-1].request

    def told(self) -> list[str]:
        """The operations it was asked about, with what they were on."""
        return [_told(request) for request in self.requests]


class Hooks:
    """The webhook server of a check."""

    def __init__(self, target: Target, address: BindAddress, authority: bytes) -> None:
        self.target, self.address, self.authority = target, address, authority
        self._hooks: dict[str, Hook] = {}
        self._installed: list[str] = []

    def hook(self, answer: Answer = allow, *, delay: float = 0.0, raw: bytes | None = None) -> Hook:
        """A new webhook, of which the server under test knows nothing yet."""
        name = f"hook{len(self._hooks)}.{self.target.namespace}.example.com"
        found = self._hooks[name] = Hook(name, answer, delay=delay, raw=raw)
        return found

    def entry(self, hook: Hook, *rules: JsonObject, **more: Any) -> JsonObject:
        """A webhook as configurations list it, for the check's namespace alone."""
        return {
            "name": hook.name,
            "rules": list(rules) or [EVERYTHING],
            "clientConfig": self.client(hook),
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "namespaceSelector": {"matchLabels": {NAMESPACE_LABEL: self.target.namespace}},
            **more,
        }

    def client(self, hook: Hook) -> JsonObject:
        bundle = b64encode(self.authority).decode()
        return {"url": f"https://{self.address}/{hook.name}", "caBundle": bundle}

    async def validating(self, hook: Hook, *rules: JsonObject, **more: Any) -> str:
        return await self.install("validating", self.entry(hook, *rules, **more))

    async def mutating(self, hook: Hook, *rules: JsonObject, **more: Any) -> str:
        return await self.install("mutating", self.entry(hook, *rules, **more))

    async def install(self, kind: str, *entries: JsonObject, name: str = "") -> str:
        """Have the server under test call webhooks; the path of the configuration."""
        name = f"{name or f'c{len(self._installed)}'}.{self.target.namespace}"
        collection = f"{REGISTRATION}/{kind}webhookconfigurations"
        probe = self.hook()
        selected = {"matchLabels": {PROBE: probe.name}}
        guard = self.entry(probe, rule("configmaps", "CREATE"), objectSelector=selected)
        kept = [_apart(entry) for entry in entries]
        obj = {"metadata": {"name": name}, "webhooks": [*kept, guard]}
        await self.target.create(collection, obj)
        self._installed.append(f"{collection}/{name}")
        await self._called(probe)
        return self._installed[-1]

    async def _called(self, probe: Hook) -> None:
        """Wait until a probe is asked, by rehearsals that no other hook sees."""
        obj = {"metadata": {"name": "probe", "labels": {PROBE: probe.name}}}
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                await self.target.send("POST", self.target.path("configmaps"), obj, dryRun="All")
                if probe.asked:
                    return
                await asyncio.sleep(POLL_SECONDS)

    async def forget(self) -> None:
        """Take every configuration away."""
        for path in self._installed:
            await self.target.send("DELETE", path)

    async def handle(self, request: Request) -> Said:
        review = msgspec.json.decode(await request.body(MOST_BYTES))
        hook = self._hooks[request.path[1:]]
        hook.asked.append(Asked(review, dict(parse_qsl(request.query))))
        if hook.delay:
            await asyncio.sleep(hook.delay)
        if hook.raw is not None:
            request.connection.send(hook.raw)
            raise Disconnected
        answer = hook.answer(review["request"])
        if isawaitable(answer):
            answer = await answer
        if isinstance(answer, Said):
            return answer
        if isinstance(answer, dict):
            answer = reviewed(review, answer)
        return Said(200, {"content-type": "application/json"}, answer)


def reviewed(review: JsonObject, response: JsonObject) -> bytes:
    """A response in the review that carries it."""
    said = {"uid": review["request"]["uid"], **response}
    head = {"apiVersion": review["apiVersion"], "kind": review["kind"]}
    return msgspec.json.encode({**head, "response": said})


@asynccontextmanager
async def hooked(target: Target) -> AsyncIterator[Hooks]:
    """A webhook server for as long as the context lasts."""
    now = datetime.now(UTC)
    term = Validity(now, now + timedelta(days=1))
    authority = Authority.make("hooks", term)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_key_pair(context, authority.serving(["127.0.0.1"], term))
    found: list[Hooks] = []

    async def handle(request: Request) -> Said:
        return await found[0].handle(request)

    at = BindAddress("127.0.0.1", 0)
    async with listen(handle, at, context, goodbye=GOODBYE_SECONDS) as address:
        found.append(Hooks(target, address, authority.certificate))
        try:
            yield found[0]
        finally:
            with suppress(ConnectionError):
                await found[0].forget()


def _apart(entry: JsonObject) -> JsonObject:
    """An entry that does not see probes."""
    if all(each["operations"] == ["CONNECT"] for each in entry["rules"]):
        return entry
    selector = dict(entry.get("objectSelector") or {})
    without = {"key": PROBE, "operator": "DoesNotExist"}
    expressions = [*(selector.get("matchExpressions") or ()), without]
    return {**entry, "objectSelector": {**selector, "matchExpressions": expressions}}


def _told(request: JsonObject) -> str:
    resource = request["resource"]["resource"]
    sub = request.get("subResource", "")
    return f"{request['operation']} {resource}{f'/{sub}' if sub else ''}"
