"""Webhooks of handlers: what they refuse, warn of and change, asked by an API server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiRequest
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.core.address import BindAddress
from quintant.kopf import public as kopf
from quintant.kopf.declare.settings import OperatorSettings
from quintant.kopf.run.operator import OperatorOptions, run_operator
from quintant.runtime.manager.environment import Environment
from unit.kopf.kit import DEFINITIONS, EXAMPLES, definition, fresh_registry

HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/auto.kopf.dev"


async def ask(transport: HttpTransport, method: str, path: str, body: Any = None) -> Any:
    raw = None if body is None else msgspec.json.encode(body)
    headers = {"content-type": "application/json"}
    reply = await transport.request(ApiRequest(method, path, {}, headers, raw))
    return reply.status, msgspec.json.decode(reply.body), reply.headers


def example(**spec: Any) -> dict[str, Any]:
    names = {"apiVersion": "kopf.dev/v1", "kind": "KopfExample"}
    return {**names, "metadata": {"generateName": "a-"}, "spec": spec}


@pytest.mark.realtime
async def test_what_is_written_is_validated_and_changed(tmp_path: Path) -> None:
    registry, ready, stop = fresh_registry(), asyncio.Event(), asyncio.Event()

    @kopf.on.validate("kex")
    def validate(spec: Any, warnings: list[str], headers: Any, dryrun: bool, **_: Any) -> None:
        assert headers["User-Agent"]
        warnings.append("careful")
        if spec.get("wrong"):
            raise kopf.AdmissionError("no such thing", code=418)

    @kopf.on.mutate("kex", operations=["CREATE"])
    def mutate(patch: Any, **_: Any) -> None:
        patch.spec["injected"] = 123

    settings = OperatorSettings()
    settings.admission.server = kopf.WebhookServer(cadump=tmp_path / "ca.pem")
    settings.admission.managed = "auto.kopf.dev"
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        transport = HttpTransport(Config.from_bytes(cluster.kubeconfig.reveal()))
        await ask(transport, "POST", DEFINITIONS, definition())
        options = OperatorOptions(registry=registry, settings=settings, standalone=True)
        work = asyncio.ensure_future(
            run_operator(
                options, environment=Environment(transport), stop=_until(stop), ready=ready.set
            )
        )
        await asyncio.wait(
            {work, asyncio.ensure_future(ready.wait())}, return_when="FIRST_COMPLETED"
        )
        assert ready.is_set(), work
        status, made, _ = await ask(transport, "POST", EXAMPLES, example())
        assert (status, made["spec"]) == (201, {"injected": 123})
        status, refused, _ = await ask(transport, "POST", EXAMPLES, example(wrong=True))
        assert status == 418
        assert "no such thing" in refused["message"]
        stop.set()
        await work
        _, left, _ = await ask(transport, "GET", HOOKS)
        assert not left.get("webhooks")
        await transport.close()
    assert (tmp_path / "ca.pem").read_bytes().startswith(b"-----BEGIN")


def _until(stop: asyncio.Event) -> Any:
    async def wait() -> None:
        await stop.wait()

    return wait
