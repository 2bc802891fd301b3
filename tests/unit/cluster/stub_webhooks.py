"""Webhooks without sockets for tests of a server: a dialer with an answer for every path."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from inspect import isawaitable
from typing import Any
from urllib.parse import urlsplit

import msgspec

from quintant.client.transport import ApiResponse
from quintant.cluster.apiserver.webhooks.dialer import WebhookRequest, WebhookUnreachable
from unit.cluster.api import JsonObject, Requests

REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
HOST = "https://hooks.test"

Answer = Callable[[JsonObject], Any]
"""From a request to a response, now or later."""


def allow(request: JsonObject) -> JsonObject:
    return {"allowed": True}


def deny(request: JsonObject) -> JsonObject:
    return {"allowed": False, "status": {"message": "no", "code": 403}}


def patch(*operations: JsonObject) -> Answer:
    raw = b64encode(msgspec.json.encode(list(operations))).decode()
    return lambda request: {"allowed": True, "patch": raw, "patchType": "JSONPatch"}


def rule(resources: str, operations: str = "*", group: str = "", version: str = "*") -> JsonObject:
    return {
        "operations": operations.split(),
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": resources.split(),
    }


class StubDialer:
    """Answers at paths, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: dict[str, list[JsonObject]] = {}

    def told(self, name: str) -> list[str]:
        return [
            f"{each['operation']} {each['resource']['resource']}"
            for each in self.asked.get(name, ())
        ]

    async def post(self, letter: WebhookRequest) -> ApiResponse:
        name = urlsplit(letter.url).path[1:]
        if name not in self.answers:
            raise WebhookUnreachable("nobody is there")
        review = msgspec.json.decode(letter.body)
        self.asked.setdefault(name, []).append(review["request"])
        answer = self.answers[name](review["request"])
        if isawaitable(answer):
            answer = await answer
        response = {"uid": review["request"]["uid"], **answer}
        document = {"apiVersion": review["apiVersion"], "kind": review["kind"]}
        return ApiResponse(200, msgspec.json.encode({**document, "response": response}), {})


async def install(
    api: Requests,
    dialer: StubDialer,
    kind: str,
    name: str,
    answer: Answer,
    *rules: JsonObject,
    **more: Any,
) -> str:
    """Have a webhook asked; the path of its configuration."""
    dialer.answers[name] = answer
    entry = {
        "name": f"{name}.hooks.test",
        "clientConfig": {"url": f"{HOST}/{name}"},
        "rules": list(rules),
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }
    path = f"{REGISTRATION}/{kind}webhookconfigurations"
    await api.create(path, {"metadata": {"name": name}, "webhooks": [entry]})
    return f"{path}/{name}"
