"""Webhooks of others that lie by seed: one request fails, nothing else, and nothing is torn.

Beside it, an API server that lies to webhooks of ours, and a metrics API that lies to who asks it.
QUINTANT_SOAK=1 tries 5,000 seeds: make soak K=liars.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from quintant import Manager
from quintant.api.core import ConfigMap
from quintant.api.metrics import NodeMetrics
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock, Random
from quintant.core.errors import QuintantError
from quintant.runtime.cache.client import Client
from quintant.runtime.webhook.admission import Denied
from quintant.testing import InProcessCluster
from testbeds.liars import lie
from testbeds.lying_webhooks import LyingWebhooks

SEEDS = 5_000 if os.environ.get("QUINTANT_SOAK") else 200
CMS = "/api/v1/namespaces/default/configmaps"
HOOKS = "/apis/admissionregistration.k8s.io/v1"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/lies.dev/{}/namespaces/default/widgets"
RULE = {
    "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
}  # fmt: skip


class Server:
    """An API server whose webhooks lie."""

    def __init__(self) -> None:
        self.hooks = LyingWebhooks()
        server = ApiServer(clock=LoopClock(), random=Random(1), dialer=self.hooks)
        server.tokens.add("admin", admin())
        self._transport = InProcessTransport(server, "admin")

    async def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The code and the document of an answer, whatever it is."""
        raw = None if body is None else msgspec.json.encode(body)
        sent = {"content-type": "application/json"} if raw is not None else {}
        reply = await self._transport.request(ApiRequest(method, path, {}, sent, raw))
        assert 200 <= reply.status < 600, reply
        return reply.status, msgspec.json.decode(reply.body)

    async def install(self, sort: str, name: str, policy: str) -> None:
        hook = {
            "name": f"{name}.lies.dev", "clientConfig": {"url": f"https://lies.dev/{name}"},
            "rules": [RULE], "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "failurePolicy": policy,
        }  # fmt: skip
        path = f"{HOOKS}/{sort}webhookconfigurations"
        code, told = await self.send("POST", path, {"metadata": {"name": name}, "webhooks": [hook]})
        assert code == 201, told


@pytest.fixture
async def server() -> Server:
    return Server()


def config_map(name: str) -> Any:
    return {"metadata": {"name": name}, "data": {"a": "b"}}


@pytest.mark.parametrize("sort", ["mutating", "validating"])
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
async def test_liars_among_admission_webhooks_fail_one_request_and_change_nothing(
    server: Server, sort: str, policy: str
) -> None:
    await server.install(sort, "mutate" if sort == "mutating" else "validate", policy)
    for seed in range(SEEDS):
        server.hooks.seed = seed
        name = f"s{seed}"
        code, told = await server.send("POST", CMS, config_map(name))
        got, stored = await server.send("GET", f"{CMS}/{name}")
        assert (got == 200) is (code == 201), (seed, told)
        if code == 201:
            assert stored["metadata"]["name"] == name
            assert {"a": "b"}.items() <= stored["data"].items(), seed
        else:
            assert told["kind"] == "Status", seed
            assert 400 <= told["code"] == code < 600, seed
    server.hooks.seed = None
    code, told = await server.send("POST", CMS, config_map("true"))
    assert code == 201, told
    assert ("mutated" in told["data"]) is (sort == "mutating")


async def test_liars_that_deny_are_believed_within_bounds(server: Server) -> None:
    await server.install("validating", "deny", "Fail")
    for seed in range(SEEDS):
        server.hooks.seed = seed
        code, told = await server.send("POST", CMS, config_map(f"s{seed}"))
        if code != 201:
            assert told["kind"] == "Status", seed
            assert 400 <= told["code"] == code < 600, seed


async def test_liars_that_convert_fail_one_request_and_lose_nothing(server: Server) -> None:
    await define_widgets(server)
    v1, v2 = WIDGETS.format("v1"), WIDGETS.format("v2")
    made = {"apiVersion": "lies.dev/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {}}
    code, told = await server.send("POST", v1, {**made, "spec": {"size": 1}})
    assert code == 201, told
    for seed in range(SEEDS):
        server.hooks.seed = seed
        # Another object each time: what was converted is remembered.
        name = f"w{seed}"
        server.hooks.seed = None
        await server.send("POST", v1, {**made, "metadata": {"name": name}, "spec": {"size": seed}})
        server.hooks.seed = seed
        code, told = await server.send("GET", f"{v2}/{name}")
        if code == 200:
            assert told["apiVersion"] == "lies.dev/v2", seed
            assert told["metadata"]["name"] == name
        else:
            assert told["kind"] == "Status", seed
            assert 400 <= told["code"] == code < 600, seed
        listed, told = await server.send("GET", v2)
        assert listed == 200 or told["kind"] == "Status", seed
        code, told = await server.send("GET", f"{v1}/{name}")
        assert (code, told["spec"]) == (200, {"size": seed}), seed
        server.hooks.seed = None
        code, _ = await server.send("DELETE", f"{v1}/{name}")
        assert code == 200, seed


async def define_widgets(server: Server) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [
        {"name": name, "served": True, "storage": name == "v1", "schema": schema}
        for name in ("v1", "v2")
    ]
    client = {"url": "https://lies.dev/convert"}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": client}
    spec = {
        "group": "lies.dev", "scope": "Namespaced", "versions": versions,
        "names": {"plural": "widgets", "kind": "Widget"},
        "conversion": {"strategy": "Webhook", "webhook": webhook},
    }  # fmt: skip
    definition = {"metadata": {"name": "widgets.lies.dev"}, "spec": spec}
    code, told = await server.send("POST", CRDS, definition)
    assert code == 201, told


def reviewed(kind: str, request: dict[str, Any]) -> bytes:
    group = "admission.k8s.io" if kind == "AdmissionReview" else "apiextensions.k8s.io"
    return msgspec.json.encode({"apiVersion": f"{group}/v1", "kind": kind, "request": request})


CHANGE = {
    "uid": "u-1", "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
    "resource": {"group": "", "version": "v1", "resource": "configmaps"}, "name": "a",
    "namespace": "default", "operation": "CREATE", "userInfo": {"username": "x", "groups": ["g"]},
    "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
               "data": {"a": "b"}},
    "oldObject": None, "dryRun": False, "options": {"kind": "CreateOptions"},
}  # fmt: skip


async def check(old: ConfigMap | None, new: ConfigMap | None, admission: Any) -> Denied | None:
    return Denied("no") if new is not None and "deny" in new.data else None


async def test_liars_that_ask_our_webhooks_get_an_answer(cluster: InProcessCluster) -> None:
    manager = Manager("reviewer")
    manager.webhooks.validating(ConfigMap, check)
    engine = await cluster.run(manager)
    assert engine.webhooks is not None
    reviews = engine.webhooks.reviews
    (path,) = [hook.path for hook in manager.webhooks.hooks]
    for seed in range(SEEDS):
        answer = lie(seed, reviewed("AdmissionReview", CHANGE))
        for target in (path, f"{path}?timeout=10s", f"{path}?{answer.body[:99]!r}"):
            reply = await reviews.answer(target, answer.body)
            told = msgspec.json.decode(reply.body)
            expected = "AdmissionReview" if reply.status == 200 else "Status"
            assert told["kind"] == expected, seed


class LyingMetrics:
    """An aggregated API behind the API server, that lies."""

    def __init__(self, seed: int) -> None:
        usage = {"metadata": {"name": "n"}, "usage": {"cpu": "100m", "memory": "1Gi"}}
        truth = {"kind": "NodeMetricsList", "metadata": {}, "items": [usage, usage]}
        self._lie = lie(seed, msgspec.json.encode(truth))

    async def request(self, call: ApiRequest) -> ApiResponse:
        return ApiResponse(self._lie.status, self._lie.body, self._lie.fields)

    def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        raise NotImplementedError


async def test_liars_among_metrics_apis_raise_one_sort_of_error() -> None:
    for seed in range(SEEDS):
        client = Client(Rest(InProcessTransport(LyingMetrics(seed))), manager="test")  # type: ignore[arg-type]
        try:
            found = await client.list(NodeMetrics, live=True)
        except QuintantError:
            continue
        assert all(isinstance(each, NodeMetrics) for each in found), seed
