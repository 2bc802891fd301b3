"""A whole cluster of real processes with Portal Expose in it: relays, tunnels, a web program.

The operator runs in the test's own process, under its generated role, over HTTPS like anywhere
else, so that a test can look at its metrics. Everything else is a pod of the local node.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec
import psutil

import patience
from quintant.agents.relay.tunnel.tokens import digest
from quintant.api.core import Pod
from quintant.api.events import Event
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.instance.cluster import Cluster, ClusterConfig, run_cluster
from quintant.cluster.kubelet.options import NodeOptions as Node
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from quintant.core.clock import SystemClock
from quintant.core.object import K
from quintant.keys.authority import Authority, Validity
from quintant.operators.portal import controllers
from quintant.operators.portal.api import (
    DEFAULT_CLASS,
    TOKEN_RELAYS,
    TOKEN_TYPE,
    PortalExpose,
    TunnelClass,
)
from quintant.operators.portal.builders import EXPOSE_LABEL
from quintant.operators.portal.options import Options
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.install_crds import install_crds
from quintant.runtime.manager.manager import Manager
from testbeds.real_cluster import operator_environment

GROUP = "portal.gosuda.org/v1alpha1"
TLS_PORT = 8443
PATIENCE_SECONDS = 90.0
"""How long a test waits for something on a busy machine before it fails."""

JsonObject = dict[str, Any]


@dataclass
class RealPortalTestbed:
    """The cluster, and what a test does with it."""

    cluster: Cluster
    client: Client
    engine: Engine
    authority: Authority
    trust: ssl.SSLContext
    keys: Mapping[str, str]
    relays: dict[str, str] = field(default_factory=dict)
    """The address of each relay's pod."""
    tokens: Mapping[str, list[str]] = field(default_factory=dict)
    """Which names relays give to which tokens; if none, to anybody."""

    async def apply(self, *manifests: JsonObject) -> None:
        await Applier(self.client.rest, "test").apply(manifests)

    async def merge(self, path: str, change: Any) -> None:
        headers = {"Content-Type": "application/merge-patch+json"}
        await self.client.raw("PATCH", path, body=msgspec.json.encode(change), headers=headers)

    async def until(
        self, kind: type[K], name: str, wanted: Callable[[K], bool], place: str = "default"
    ) -> K:
        """An object as soon as it is as wanted."""
        try:
            found = await self.client.wait_for(
                kind, name, place, timeout=patience.seconds(PATIENCE_SECONDS),
                until=lambda it: it is not None and wanted(it),
            )  # fmt: skip
        except TimeoutError:
            last = await self.client.find(kind, name, place)
            raise AssertionError(f"not in time; it is {last}") from None
        assert found is not None
        return found

    async def phase(self, phase: str, name: str = "hello") -> PortalExpose:
        return await self.until(
            PortalExpose, name, lambda it: it.status is not None and it.status.phase == phase
        )

    async def relay(self, name: str) -> None:
        """Start a relay, and wait until it is ready."""
        await self.apply(self._relay(name))
        pod = await self.until(Pod, name, lambda it: it.ready)
        self.relays[name] = pod.status.pod_ip

    async def serve(self, name: str = "web") -> None:
        """Start the web program and its Service."""
        container = {"name": "web", "image": "quintant/echo", "args": ["--port", "8080"]}
        labels = {"app": name}
        await self.apply(
            _part("v1", "Pod", name, labels=labels, spec={
                "containers": [container], "terminationGracePeriodSeconds": 1}),
            _part("v1", "Service", name, spec={"selector": labels, "ports": [{"port": 8080}]}),
        )  # fmt: skip
        await self.until(Pod, name, lambda it: it.ready)

    async def classed(self, replicas: int, name: str = "default", size: str = "small") -> None:
        noted = {DEFAULT_CLASS: "true"}
        part = _part(GROUP, "TunnelClass", name, spec={"replicas": replicas, "size": size})
        part["metadata"] = {"name": name, "annotations": noted}
        await self.apply(part)

    async def expose(
        self, *relays: str, name: str = "hello", app: str = "hello", token: str = ""
    ) -> None:
        """Create a PortalExpose; `token` is the Secret that it shows to relays."""
        urls = {each: f"wss://{domain(each)}:{TLS_PORT}/relay" for each in relays}
        await self._expose(urls, name, app, {"authSecretRef": {"name": token}} if token else {})

    async def expose_at(self, url: str, name: str = "hello", app: str = "hello") -> None:
        """Create a PortalExpose at a relay that is not of this testbed."""
        await self._expose({"elsewhere": url}, name, app, {})

    async def _expose(
        self, urls: Mapping[str, str], name: str, app: str, shown: JsonObject
    ) -> None:
        targets = [
            {"name": each, "url": url, "caConfigMapRef": {"name": "relay-ca"}, **shown}
            for each, url in urls.items()
        ]
        spec = {
            "app": {"name": app, "service": {"name": "web", "port": 8080}},
            "relay": {"targets": targets},
        }
        await self.apply(_part(GROUP, "PortalExpose", name, spec=spec))

    async def visit(self, relay: str, app: str = "hello", path: str = "/") -> tuple[int, str]:
        """Status and body of a visitor's request through a relay, over TLS."""
        return await self.visit_at(self.relays[relay], TLS_PORT, f"{app}.{domain(relay)}", path)

    async def visit_at(
        self, address: str, port: int, host: str, path: str = "/"
    ) -> tuple[int, str]:
        """Status and body of a visitor's request at an address."""
        reader, writer = await asyncio.open_connection(
            address, port, ssl=self.trust, server_hostname=host
        )
        try:
            writer.write(
                f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
            )
            head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
        finally:
            writer.close()
        return int(head.split(" ")[1]), head + body

    async def token(self, name: str, token: str) -> None:
        """Put a token into a Secret for all relays."""
        secret = _part("v1", "Secret", name, type=TOKEN_TYPE, stringData={"token": token})
        hosts = ",".join(f"{domain(each)}:{TLS_PORT}" for each in self.relays)
        secret["metadata"]["annotations"] = {TOKEN_RELAYS: hosts}
        await self.apply(secret)

    def processes(self, pod: Pod) -> list[psutil.Process]:
        """The processes of a pod: those children of ours that were told its name."""
        found = []
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                if child.environ().get("HOSTNAME") == pod.metadata.name:
                    found.append(child)
        return found

    async def tunnels(self, name: str = "") -> list[Pod]:
        return [
            pod
            for pod in await self.client.list(Pod, "default", labels={EXPOSE_LABEL: name})
            if not pod.deleting
        ]

    async def reasons(self) -> list[str]:
        await asyncio.sleep(0.5)  # events are written in the background
        return [each.reason for each in await self.client.list(Event)]

    def _relay(self, name: str) -> JsonObject:
        guard = ("--auth", "token", "--tokens", "/keys/tokens.json") if self.tokens else ()
        container = {
            "name": "relay",
            "image": "quintant/relay",
            "args": [
                *("--domain", domain(name), "--tls-cert", "/keys/tls.crt"),
                *("--tls-key", "/keys/tls.key", *guard),
            ],
            "volumeMounts": [{"name": "keys", "mountPath": "/keys"}],
            "readinessProbe": {"httpGet": {"path": "/healthz", "port": 9809}, "periodSeconds": 1},
        }
        spec = {
            "containers": [container],
            "volumes": [{"name": "keys", "secret": {"secretName": "relay-tls"}}],
            "terminationGracePeriodSeconds": 1,
        }
        return _part("v1", "Pod", name, labels={"relay": name}, spec=spec)


def domain(relay: str) -> str:
    """Apps of a relay are found below this; it leads to its Service."""
    return f"{relay}.default.svc.cluster.local"


def _part(version: str, kind: str, name: str, labels: Any = None, **rest: Any) -> JsonObject:
    meta = {"name": name, "namespace": "default", **({"labels": labels} if labels else {})}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **rest}


def _listed(tokens: Mapping[str, list[str]]) -> str:
    entries = [
        {"sha256": digest(token), "subject": token, "names": names}
        for token, names in tokens.items()
    ]
    return msgspec.json.encode({"tokens": entries}).decode()


@asynccontextmanager
async def opened(
    *relays: str, options: Options | None = None, tokens: Mapping[str, list[str]] | None = None
) -> AsyncIterator[RealPortalTestbed]:
    """A testbed with relays, a web program and the operator at work."""
    plan = ClusterConfig(BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(0), node=Node())
    async with run_cluster(plan) as cluster:
        cluster.server.tokens.add("test", admin("test"))
        transport = InProcessTransport(cluster.server, "test")
        client = Client(Rest(transport), manager="test")
        await install_crds(transport, [PortalExpose, TunnelClass])
        manager = Manager("portal")
        chosen = options or Options(enable_webhooks=False)
        controllers(manager, chosen)
        async with manager.running(await operator_environment(cluster, client, manager)) as engine:
            testbed = _testbed(cluster, client, engine, relays)
            testbed.tokens = tokens or {}
            await _prepare(testbed, relays)
            yield testbed


def _testbed(
    cluster: Cluster, client: Client, engine: Engine, relays: tuple[str, ...]
) -> RealPortalTestbed:
    now = SystemClock().now()
    term = Validity(now - timedelta(hours=1), now + timedelta(days=1))
    authority = Authority.make("testbed", term)
    names = [name for each in relays for name in (domain(each), f"*.{domain(each)}")]
    pair = authority.serving(names or ["no-relay.invalid"], term)
    keys = {"tls.crt": pair.certificate.reveal().decode(), "tls.key": pair.key.reveal().decode()}
    trust = ssl.create_default_context(cadata=authority.certificate.decode())
    return RealPortalTestbed(cluster, client, engine, authority, trust, keys)


async def _prepare(testbed: RealPortalTestbed, relays: tuple[str, ...]) -> None:
    authority = {"ca.crt": testbed.authority.certificate.decode()}
    keys = {**testbed.keys, "tokens.json": _listed(testbed.tokens)}
    await testbed.apply(
        _part("v1", "ConfigMap", "relay-ca", data=authority),
        _part("v1", "Secret", "relay-tls", type="kubernetes.io/tls", stringData=keys),
        *(
            _part("v1", "Service", each, spec={
                "selector": {"relay": each}, "ports": [{"port": TLS_PORT}]})
            for each in relays
        ),
    )  # fmt: skip
    async with asyncio.TaskGroup() as group:
        for each in relays:
            group.create_task(testbed.relay(each))
        group.create_task(testbed.serve())
