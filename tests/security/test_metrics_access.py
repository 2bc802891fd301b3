"""A manager's metrics over TLS, for who may read them; its probes stay as they are."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from msgspec.structs import replace

from quintant import Manager
from quintant.api.rbac import GROUP, ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject
from quintant.cluster.apiserver.meta.user import service_account
from quintant.core.errors import ConfigError, leaf_errors
from quintant.core.object import ObjectMeta
from quintant.runtime.webhook.authority import IssuedCertificate, issue_certificate
from quintant.testing import InProcessCluster
from quintant.testing.privileges import grant
from scenarios.greeter import Greeter, reconcile
from testbeds.ports import free_port


def certificate(folder: Path) -> IssuedCertificate:
    issued = issue_certificate(["localhost"], datetime.now(UTC))
    (folder / "tls.crt").write_bytes(issued.pair.certificate.reveal())
    (folder / "tls.key").write_bytes(issued.pair.key.reveal())
    return issued


def shop(**settings: Any) -> Manager:
    manager = Manager("shop", **settings)
    manager.controls(Greeter).reconcile(reconcile)
    return manager


async def allow(cluster: InProcessCluster, name: str, *paths: str) -> None:
    """Let a service account get paths, and know its name as its token."""
    cluster.server.tokens.add(name, service_account("monitoring", name))
    meta = ObjectMeta(name=name)
    rule = PolicyRule(verbs=("get",), non_resource_urls=paths)
    await cluster.client.apply(ClusterRole(metadata=meta, rules=(rule,)))
    subject = Subject(kind="ServiceAccount", name=name, namespace="monitoring")
    ref = RoleRef(api_group=GROUP, kind="ClusterRole", name=name)
    await cluster.client.apply(ClusterRoleBinding(metadata=meta, role_ref=ref, subjects=(subject,)))


@pytest.mark.realtime
async def test_metrics_and_debug_are_for_who_may_read_them_and_probes_for_all(
    tmp_path: Path,
) -> None:
    cluster, issued = InProcessCluster(rbac=True), certificate(tmp_path)
    metrics, probes = free_port(), free_port()
    manager = shop(
        metrics=f"127.0.0.1:{metrics}", probes=f"127.0.0.1:{probes}",
        metrics_auth=True, metrics_certificates=str(tmp_path), debug=True,
    )  # fmt: skip
    account = await grant(cluster, manager)
    await allow(cluster, "prometheus", "/metrics")
    await allow(cluster, "developer", "/metrics", "/debug")
    environment = replace(cluster.environment(account.credentials), listen=True)
    await cluster.run(manager, environment=environment)
    trust = ssl.create_default_context(cadata=issued.authority.decode())

    async with aiohttp.ClientSession() as http:

        async def get(path: str, token: str = "") -> tuple[int, str]:
            headers = {"authorization": f"Bearer {token}"} if token else {}
            url = f"https://localhost:{metrics}{path}"
            async with http.get(url, headers=headers, ssl=trust) as reply:
                return reply.status, await reply.text()

        assert (await get("/metrics"))[0] == 401
        assert (await get("/metrics", "nobody"))[0] == 401
        status, text = await get("/metrics", "prometheus")
        assert status == 200
        assert "controller_runtime_reconcile_total" in text
        assert (await get("/debug/tasks", "prometheus"))[0] == 403
        status, text = await get("/debug/tasks", "developer")
        assert status == 200
        assert "ReconcileWorkers.work" in text
        assert (await get("/debug/profile?seconds=0.1", "developer"))[0] == 200
        async with http.get(f"http://127.0.0.1:{probes}/healthz") as reply:
            assert reply.status == 200
        with pytest.raises(aiohttp.ClientError):
            await http.get(f"http://localhost:{metrics}/metrics")
    assert account.denied() == []
    await cluster.close()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"debug": True}, "/debug for everybody"),
        ({"metrics_auth": True, "metrics": ":8080"}, "without TLS"),
        ({"metrics_auth": True, "metrics": "127.0.0.1:1", "probes": "127.0.0.1:1"}, "and probes"),
        ({"metrics_certificates": "x", "metrics": ":1", "probes": ":1"}, "and probes"),
    ],
)
def test_what_others_would_read_all_the_same_is_refused(settings: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        shop(**settings).check()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"metrics_auth": True},
        {"metrics_auth": True, "metrics": "[::1]:8080", "debug": True},
        {"metrics_auth": True, "metrics": ":8080", "metrics_certificates": "x"},
        {"metrics_auth": True, "metrics": "", "probes": ""},
    ],
)
def test_what_makes_sense_is_taken(settings: Any) -> None:
    shop(**settings).check()


@pytest.mark.realtime
async def test_without_a_certificate_nothing_is_served(tmp_path: Path) -> None:
    cluster = InProcessCluster()
    manager = shop(
        metrics="127.0.0.1:0", probes="", metrics_auth=True, metrics_certificates=str(tmp_path)
    )
    await cluster.install(Greeter)
    engine = manager.bind(replace(cluster.environment(), listen=True))
    with pytest.raises(BaseExceptionGroup) as raised:
        await engine.run()
    (error,) = leaf_errors(raised.value)
    assert "cannot serve metrics without a certificate" in str(error)
    await cluster.close()
