"""The token is read once; after an hour every request is refused until somebody restarts.

Tokens and certificates are short-lived on purpose. Whoever uses them must notice the new one, or
learn of it from the first refusal, without a reconcile that fails for it.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from quintant.api.core import ConfigMap
from quintant.client.config.config import Config
from quintant.client.config.credentials import CredentialProvider
from quintant.client.config.exec_plugin import ExecPluginCredential, ProcessResult
from quintant.client.config.tls import Pem, TlsConfig
from quintant.client.config.tokens import TokenFileCredential
from quintant.client.config.user import Plugin
from quintant.client.http.transport import HttpTransport
from quintant.cluster.apiserver.meta.user import service_account
from quintant.cluster.apiserver.server.https import serve
from quintant.core.clock import monotonic, timestamp
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import memory_file
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, watch
from scenarios.greeter import Greeter, greeter, greeter_manager
from scenarios.metrics_and_probes import restarts, sample
from unit.client.pki import Authority

ROTATION_SECONDS = 300.0
DAY_SECONDS = 24 * 3600.0
ROTATIONS = int(DAY_SECONDS / ROTATION_SECONDS)
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
EXEC = "client.authentication.k8s.io/v1"


@dataclass
class Issuer:
    """Whoever gives out tokens: each one replaces the one before, which is refused at once."""

    cluster: InProcessCluster
    issued: int = 0
    told: Callable[[str], object] = lambda token: None

    @property
    def token(self) -> str:
        return f"token-{self.issued}"

    def rotate(self) -> None:
        self.cluster.server.tokens.revoke(self.token)
        self.issued += 1
        self.cluster.server.tokens.add(self.token, service_account("default", "greeter"))
        self.told(self.token)


@dataclass
class Program:
    """An exec plugin: prints what its function says, and counts how often it was run."""

    status: Callable[[], Mapping[str, Any]]
    runs: int = field(default=0, init=False)

    async def __call__(
        self, argv: tuple[str, ...], env: Mapping[str, str], interactive: bool
    ) -> ProcessResult:
        self.runs += 1
        document = {"apiVersion": EXEC, "kind": "ExecCredential", "status": self.status()}
        return ProcessResult(0, Sensitive(json.dumps(document).encode()))


@dataclass
class WallClock:
    """A clock that is set by hand."""

    moment: datetime = EPOCH

    def now(self) -> datetime:
        return self.moment


async def a_day(
    cluster: InProcessCluster, issuer: Issuer, credentials: CredentialProvider
) -> Engine:
    """Run for a day, with changes before and after each rotation; watches meet every second one."""
    await cluster.create(greeter("a"))
    environment = cluster.environment(credentials)
    engine = await cluster.run(greeter_manager(), environment=environment)
    for turn in range(ROTATIONS):
        for moment in ("before", "after"):
            text = f"{moment} {turn}"
            await cluster.client.apply(greeter("a", text))
            await cluster.eventually(ConfigMap, "a", until=says(text), within=1)
            await cluster.advance(1)
            if moment == "before":
                issuer.rotate()
                await cluster.advance(1)
                if turn % 2:
                    assert cluster.faults.cut(watch(Greeter), clean=True) == 1
                    await cluster.advance(0.1)
        await cluster.advance((turn + 1) * ROTATION_SECONDS - monotonic())
    return engine


def says(text: str) -> Callable[[ConfigMap], bool]:
    return lambda child: child.data["text"] == text


def check(cluster: InProcessCluster, engine: Engine) -> int:
    """Nothing failed, and no rotation was met with more than one refusal; how many there were."""
    assert sample(engine, "controller_runtime_reconcile_errors_total", controller="greeter") == 0
    assert restarts(engine, Greeter, "error") == 0
    refused = [sent.at // ROTATION_SECONDS for sent in cluster.faults.calls if sent.outcome == 401]
    assert len(refused) == len(set(refused))
    return len(refused)


async def test_rotated_service_account_token_costs_one_refusal_and_no_reconcile(
    cluster: InProcessCluster, tmp_path: Path
) -> None:
    path = tmp_path / "token"
    issuer = Issuer(cluster, told=path.write_text)
    issuer.rotate()
    engine = await a_day(cluster, issuer, TokenFileCredential(path))
    # Now and then the file is looked at between a rotation and the next request.
    assert check(cluster, engine) > ROTATIONS * 0.9


async def test_token_of_a_plugin_is_renewed_when_it_expires_and_never_refused(
    cluster: InProcessCluster,
) -> None:
    issuer = Issuer(cluster)
    issuer.rotate()

    def status() -> Mapping[str, Any]:
        # Expires when the issuer will replace it: a second into each turn.
        expiry = cluster.clock.epoch + timedelta(seconds=1 + (issuer.issued - 1) * ROTATION_SECONDS)
        return {"token": issuer.token, "expirationTimestamp": timestamp(expiry)}

    program = Program(status)
    plugin = ExecPluginCredential(Plugin("login", EXEC), {}, cluster.clock, run=program, environ={})
    engine = await a_day(cluster, issuer, plugin)
    assert check(cluster, engine) == 0
    assert program.runs > ROTATIONS


async def test_token_of_a_plugin_that_names_no_expiry_is_renewed_when_it_is_refused(
    cluster: InProcessCluster,
) -> None:
    issuer = Issuer(cluster)
    issuer.rotate()
    program = Program(lambda: {"token": issuer.token})
    plugin = ExecPluginCredential(Plugin("login", EXEC), {}, cluster.clock, run=program, environ={})
    engine = await a_day(cluster, issuer, plugin)
    assert check(cluster, engine) == ROTATIONS
    assert program.runs == ROTATIONS + 1


@pytest.mark.realtime
async def test_certificate_of_a_plugin_is_shown_anew_when_the_server_takes_no_other(
    cluster: InProcessCluster,
) -> None:
    names, clock = Authority("servers"), WallClock()
    clients = Authority("clients 0")

    def status() -> Mapping[str, Any]:
        pair = clients.issue("greeter")
        return {
            "clientCertificateData": pair.certificate.reveal().decode(),
            "clientKeyData": pair.key.reveal().decode(),
            "expirationTimestamp": timestamp(clock.now() + timedelta(minutes=5)),
        }

    program = Program(status)
    plugin = ExecPluginCredential(Plugin("login", EXEC), {}, clock, run=program, environ={})
    async with edge(cluster, names, clients) as url:
        trust = TlsConfig(Pem("certificate-authority-data", Sensitive(names.pem)))
        transport = HttpTransport(Config(url, trust=trust), credentials=plugin)
        environment = replace(cluster.environment(), transport=transport)
        engine = await cluster.run(greeter_manager(), environment=environment)
        await cluster.create(greeter("a"))
        await cluster.eventually(ConfigMap, "a")
    port = int(url.rpartition(":")[2])
    for turn in range(3):
        clients = Authority(f"clients {turn + 1}")
        clock.moment += timedelta(minutes=5)
        async with edge(cluster, names, clients, port):
            await cluster.client.apply(greeter("a", f"turn {turn}"))
            await cluster.eventually(ConfigMap, "a", until=says(f"turn {turn}"))
    await cluster.stop(engine)
    await transport.close()

    assert sample(engine, "controller_runtime_reconcile_errors_total", controller="greeter") == 0
    assert program.runs == 4


def edge(
    cluster: InProcessCluster, names: Authority, clients: Authority, port: int = 0
) -> AbstractAsyncContextManager[str]:
    """The server under TLS; it talks to nobody without a certificate of `clients`."""
    context = names.serving("127.0.0.1")
    context.verify_mode = ssl.CERT_REQUIRED
    with memory_file(Sensitive(clients.pem)) as path:
        context.load_verify_locations(path)
    return serve(cluster.server, port=port, ssl=context)
