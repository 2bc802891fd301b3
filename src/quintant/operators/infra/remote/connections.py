"""The real outside: Infrastructure Managers by URL, and clusters by kubeconfig.

Connections are kept per provider and closed with the manager; a made cluster is looked at with a
connection of its own, which is closed after the look.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from quintant.api.core import Node
from quintant.client.config.config import Config
from quintant.client.config.tls import Pem, TlsConfig
from quintant.client.http.transport import HttpTransport, TransportLimits
from quintant.core.errors import ApiError, ConfigError, Forbidden, TransportError, Unauthorized
from quintant.core.text import one_line
from quintant.keys.sensitive import Sensitive
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observed.answers import NodeLook, TargetLook
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.remote import Provider, Remote
from quintant.operators.infra.remote.gate import Gate
from quintant.operators.infra.remote.im import ImProvider
from quintant.runtime.cache.client import Client
from quintant.runtime.remote import RemoteLimits, remote_client

ANSWER_BYTES = 4 * 1024 * 1024
CONNECT_SECONDS = 5.0
Endpoint = tuple[str, bytes | None, bool]


class ImProviders:
    """Infrastructure Managers, by where they are."""

    def __init__(self, metrics: InfraMetrics) -> None:
        self._metrics = metrics
        self._known: dict[Endpoint, tuple[HttpTransport, Gate]] = {}

    def __call__(self, session: ProviderSession, /) -> Provider:
        endpoint = (session.url, session.authority, session.insecure)
        if endpoint not in self._known:
            self._known[endpoint] = (_transport(session), Gate(session.limit))
        transport, gate = self._known[endpoint]
        return ImProvider(session, transport, gate, self._metrics)

    async def hold(self, client: Client) -> None:
        """Keep connections for as long as the manager runs; a runnable."""
        try:
            await asyncio.Event().wait()
        finally:
            await self.close()

    async def close(self) -> None:
        """Close all connections."""
        known, self._known = self._known, {}
        for transport, _ in known.values():
            await transport.close()


def _transport(session: ProviderSession) -> HttpTransport:
    authority = None
    if session.authority is not None:
        authority = Pem("caBundleSecretRef", Sensitive(session.authority))
    # Who may create a provider names it, and may not call by it what only this machine reaches.
    config = Config(session.url, trust=TlsConfig(authority, session.insecure), untrusted=True)
    limits = TransportLimits(connect=CONNECT_SECONDS, size=ANSWER_BYTES)
    return HttpTransport(config, limits=limits)


async def look_at(near: Client, kubeconfig: bytes, *, seconds: float, insecure: bool) -> TargetLook:
    """Ask a cluster whether it is ready, and for its nodes; a failure is an answer, too."""
    try:
        config = Config.from_bytes(kubeconfig, source="the Secret", insecure=insecure)
        limits = RemoteLimits(answer=seconds)
        async with (
            asyncio.timeout(2 * seconds),
            remote_client(near, config, label="target", limits=limits) as target,
        ):
            await target.raw("GET", "/readyz")
            nodes = await target.list(Node)
    except (Unauthorized, Forbidden) as error:
        return TargetLook(failure="Unauthorized", message=HTTPStatus(error.status).phrase)
    except (ApiError, TransportError, ConfigError, TimeoutError, OSError) as error:
        return TargetLook(failure="Unreachable", message=_why(error))
    return TargetLook(nodes=tuple(map(_node, nodes)))


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, ApiError):
        return one_line(f"it answers {error.status} {error.reason}")
    lines = str(error).splitlines()
    because = [line.removeprefix("because: ") for line in lines if line.startswith("because: ")]
    return one_line(because[0] if because else lines[0] if lines else type(error).__name__)


def _node(node: Node) -> NodeLook:
    conditions = {each.type: each.status for each in node.status.conditions}
    pressures = sorted(
        type
        for type, status in conditions.items()
        if type.endswith("Pressure") and status == "True"
    )
    return NodeLook(node.metadata.name, conditions.get("Ready") == "True", tuple(pressures))


def connected(metrics: InfraMetrics) -> tuple[Remote, ImProviders]:
    """The real outside, and what holds its connections."""
    providers = ImProviders(metrics)
    return Remote(providers, look_at), providers
