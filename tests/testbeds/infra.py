"""A cluster under virtual time with infra in it; the provider and what it makes are modelled."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import msgspec

from quintant.api.core import Namespace, Secret
from quintant.api.events import Event
from quintant.api.meta import condition_of
from quintant.core.errors import NotFound
from quintant.core.object import Object, ObjectMeta, Opaque
from quintant.core.secret_hosts import url_host
from quintant.operators.infra import controllers
from quintant.operators.infra.api import (
    GROUP,
    HOSTS,
    VERSION,
    Cloud,
    Cluster,
    GlobalCloud,
    GlobalInfrastructureProvider,
    InfrastructureClaim,
    InfrastructureProvider,
)
from quintant.operators.infra.observed.answers import NodeLook, TargetLook
from quintant.operators.infra.options import Options
from quintant.operators.infra.remote import Remote
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.manager import Manager
from quintant.testing import GrantedAccount, InProcessCluster, grant
from quintant.testing.simulate.remotes.provider import ModelledProvider

KINDS = (
    Cluster, Cloud, GlobalCloud, InfrastructureProvider, GlobalInfrastructureProvider,
    InfrastructureClaim,
)  # fmt: skip
OPTIONS = Options(dummy_clouds=True, global_secrets_namespace="infra-secrets")
PASSWORD = "pa;ss=w'o\"r\\d\n\u00fc file(/etc/passwd)"
"""A password with everything that could be taken for something else."""
API_VERSION = f"{GROUP}/{VERSION}"
KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{name: made, cluster: {server: "https://SERVER:6443"}}]
users: [{name: admin, user: {token: "made-cluster-token"}}]
contexts: [{name: made, context: {cluster: made, user: admin}}]
current-context: made
"""
_SERVER = re.compile(r"https://([^:\"/]+)")

Plain = dict[str, Any]


def template(workers: int = 1, kubeconfig: str = "") -> Plain:
    """A template of a front machine and some workers, whose kubeconfig is an input."""
    compute = {"type": "demo.nodes.Compute"}
    scalable = {"scalable": {"properties": {"count": {"get_input": "wn_num"}}}}
    return {
        "tosca_definitions_version": "tosca_simple_yaml_1_0",
        "node_types": {"demo.nodes.Compute": {"derived_from": "tosca.nodes.Compute"}},
        "topology_template": {
            "inputs": {
                "wn_num": {"type": "integer", "default": workers},
                "kubeconfig": {
                    "type": "string",
                    "default": kubeconfig or KUBECONFIG.replace("SERVER", "made.example.com"),
                },
            },
            "node_templates": {"front": dict(compute), "wn": {**compute, "capabilities": scalable}},
            "outputs": {"kubeconfig": {"value": {"get_input": "kubeconfig"}}},
        },
    }


@dataclass
class ModelledTargets:
    """The clusters that were made, by the host in their kubeconfig."""

    down: set[str] = field(default_factory=set)
    refusing: set[str] = field(default_factory=set)
    nodes: dict[str, tuple[NodeLook, ...]] = field(default_factory=dict)
    delay: float = 0.5
    looks: int = 0

    async def __call__(
        self, near: Client, kubeconfig: bytes, *, seconds: float, insecure: bool
    ) -> TargetLook:
        self.looks += 1
        await asyncio.sleep(self.delay)
        found = _SERVER.search(kubeconfig.decode())
        host = found[1] if found is not None else ""
        if host in self.down:
            return TargetLook(failure="Unreachable", message="connection refused")
        if host in self.refusing:
            return TargetLook(failure="Unauthorized", message="Unauthorized")
        usual = (NodeLook("front", True), NodeLook("wn-1", True))
        return TargetLook(nodes=self.nodes.get(host, usual))


@dataclass
class InfraTestbed:
    """The cluster, its modelled parts, and what a test does with them."""

    cluster: InProcessCluster
    options: Options = OPTIONS
    model: ModelledProvider = field(default_factory=ModelledProvider)
    targets: ModelledTargets = field(default_factory=ModelledTargets)
    url: str = "http://im.example.com:8800"
    """Of the provider."""
    hosts: tuple[str, ...] = ("keystone.example.com:5000",)
    """Who may see Secrets beside the provider."""
    user: str = "us"
    """Who we are to the provider."""
    account: GrantedAccount | None = None
    elected: GrantedAccount | None = None
    """The account of replicas that elect a leader."""
    engine: Engine | None = None

    async def start(self) -> Engine:
        """Start the operator under its generated role."""
        manager = Manager("infra")
        controllers(manager, self.options, self.remote())
        self.account = self.account or await grant(self.cluster, manager)
        environment = self.cluster.environment(self.account.credentials)
        self.engine = await self.cluster.run(manager, environment=environment)
        return self.engine

    async def replica(self, *, started: bool = True) -> Engine:
        """Start one more of the operator; they elect who works."""
        manager = Manager("infra", leader_elect=True)
        controllers(manager, self.options, self.remote())
        self.elected = self.elected or await grant(self.cluster, manager)
        environment = self.cluster.environment(self.elected.credentials)
        return await self.cluster.run(manager, environment=environment, started=started)

    def remote(self) -> Remote:
        """What is outside."""
        return Remote(self.model.at, self.targets)

    async def crash(self) -> None:
        """Kill the operator."""
        assert self.engine is not None
        await self.cluster.crash(self.engine)

    async def restart(self) -> None:
        """Kill the operator, and start another one."""
        await self.crash()
        await self.start()

    async def create(self, document: Plain) -> None:
        """Create an object as a user would."""
        kind, meta = document["kind"], document["metadata"]
        plural = {"Secret": "secrets"}.get(kind, f"{kind.lower()}s")
        group = "/api/v1" if kind == "Secret" else f"/apis/{API_VERSION}"
        place = f"/namespaces/{meta['namespace']}" if meta.get("namespace") else ""
        await self.cluster.client.raw(
            "POST",
            f"{group}{place}/{plural}",
            body=msgspec.json.encode(document),
            headers={"Content-Type": "application/json"},
        )

    async def secret(self, name: str, namespace: str = "default", **values: str) -> None:
        """Create a Secret, or change it; it is watched."""
        found = await self.cluster.client.find(Secret, name, namespace)
        if found is not None:
            path = f"/api/v1/namespaces/{namespace}/secrets/{name}"
            await self.merge(path, {"stringData": values})
            return
        meta = ObjectMeta(
            name=name,
            namespace=namespace,
            labels={f"{GROUP}/watch": "true"},
            annotations={HOSTS: ",".join((url_host(self.url), *self.hosts))},
        )
        await self.cluster.create(Secret(metadata=meta, string_data=values))

    async def provider(
        self, name: str = "im", namespace: str = "default", *, password: str = PASSWORD
    ) -> None:
        """Create a provider and its Secret."""
        where = namespace or "infra-secrets"
        await self.secret(f"{name}-cred", where, username=self.user, password=password)
        ref = {"name": f"{name}-cred"} | ({} if namespace else {"namespace": where})
        kind = "InfrastructureProvider" if namespace else "GlobalInfrastructureProvider"
        im = {"url": self.url, "credentialsSecretRef": ref}
        await self.create(_part(kind, name, namespace, {"type": "im", "im": im}))

    async def cloud(self, name: str = "here", namespace: str = "default", **spec: Any) -> None:
        """Create a cloud that makes nothing anywhere."""
        kind = "InfrastructureProvider" if namespace else "GlobalInfrastructureProvider"
        labels = spec.pop("labels", {})
        wanted = {"type": "dummy", "providerRef": {"kind": kind, "name": "im"}} | spec
        document = _part("Cloud" if namespace else "GlobalCloud", name, namespace, wanted)
        document["metadata"]["labels"] = labels
        await self.create(document)

    async def openstack(self, name: str = "here", **spec: Any) -> None:
        """Create an OpenStack cloud, and its Secret."""
        await self.secret(f"{name}-cred", username="alice", password=PASSWORD)
        auth = {
            "credentialsSecretRef": {"name": f"{name}-cred"},
            "userDomainName": "people",
            "project": {"name": "shop", "domainID": "d-7"},
        }
        stack = {"url": "https://keystone.example.com:5000", "auth": auth, "region": "eu"}
        wanted = {"type": "openstack", "openstack": stack, "providerRef": {"name": "im"}} | spec
        await self.create(_part("Cloud", name, "default", wanted))

    async def make(
        self, name: str = "one", workers: int = 1, *, tosca: Plain | None = None, **spec: Any
    ) -> None:
        """Create a Cluster."""
        wanted = {"tosca": template(workers) if tosca is None else tosca} | spec
        await self.create(_part("Cluster", name, "default", wanted))

    async def everything(self, name: str = "one", workers: int = 1, **spec: Any) -> Cluster:
        """A Cluster that is ONLINE, with all that it needs."""
        await self.provider()
        await self.cloud()
        await self.make(name, workers, **spec)
        return await self.state("ONLINE", name)

    async def get(self, name: str = "one") -> Cluster:
        """The Cluster now."""
        return await self.cluster.get(Cluster, name)

    async def state(self, *states: str, name: str = "one", within: float = 120.0) -> Cluster:
        """Wait for one of some states."""
        if name == "one" and len(states) == 2 and states[1].islower():
            name, states = states[1], states[:1]
        return await self.cluster.eventually(
            Cluster,
            name,
            until=lambda it: it.status is not None and it.status.state in states,
            within=within,
        )

    async def condition(
        self, type: str, status: str, reason: str = "", *, name: str = "one", within: float = 120.0
    ) -> Cluster:
        """Wait for a condition."""

        def holds(it: Cluster) -> bool:
            found = condition_of(it.status.conditions, type) if it.status is not None else None
            known = found is not None and found.status == status
            return known and found is not None and reason in ("", found.reason)

        return await self.cluster.eventually(Cluster, name, until=holds, within=within)

    async def edit(self, name: str = "one", **spec: Any) -> None:
        """Change the spec of a Cluster."""
        await self.merge(_path(name), {"spec": spec})

    async def scale(self, workers: int, name: str = "one") -> None:
        """Ask for another number of workers."""
        inputs = {"wn_num": {"default": workers}}
        await self.edit(name, tosca={"topology_template": {"inputs": inputs}})

    async def annotate(self, name: str = "one", **values: str | None) -> None:
        """Annotate a Cluster, under our group."""
        noted = {f"{GROUP}/{key.replace('_', '-')}": value for key, value in values.items()}
        await self.merge(_path(name), {"metadata": {"annotations": noted}})

    async def delete(self, name: str = "one") -> None:
        """Ask for the deletion of a Cluster."""
        await self.cluster.client.delete(await self.get(name))

    async def gone(self, name: str = "one", within: float = 300.0) -> None:
        """Wait until a Cluster is gone."""
        await self.cluster.wait_deleted(Cluster, name, within=within)

    async def merge(self, path: str, change: Any, kind: str = "merge") -> None:
        """Change something as a user would."""
        await self.cluster.client.raw(
            "PATCH",
            path,
            body=msgspec.json.encode(change),
            headers={"Content-Type": f"application/{kind}-patch+json"},
        )

    async def events(self) -> list[tuple[str, str, str]]:
        """What the operator told so far: type, reason and text, in order."""
        await self.cluster.advance(1)  # they are written in the background
        found = await self.cluster.client.list(Event)
        return [
            (each.type, each.reason, each.note)
            for each in sorted(found, key=lambda each: each.event_time or "")
        ]

    async def reasons(self) -> list[str]:
        return [reason for _, reason, _ in await self.events()]

    async def states_of(self, name: str = "one", seconds: float = 60.0) -> list[str]:
        """The states that a Cluster goes through, looked at ten times a second."""
        seen: list[str] = []
        for _ in range(int(seconds * 10)):
            try:
                found = await self.get(name)
            except NotFound:
                break
            state = (found.status.state if found.status else None) or "PENDING"
            if seen[-1:] != [state]:
                seen.append(state)
            await self.cluster.advance(0.1)
        return seen

    async def everything_shown(self) -> str:
        """Every object but Secrets, as text: where nothing secret may be."""
        found: list[Any] = [*await self.events()]
        for kind in KINDS:
            found += [msgspec.to_builtins(each, enc_hook=_plain) for each in (
                await self.cluster.client.list(kind, live=True)
            )]  # fmt: skip
        return repr(found)


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Opaque) else str(value)


def _path(name: str) -> str:
    return f"/apis/{API_VERSION}/namespaces/default/clusters/{name}"


def _part(kind: str, name: str, namespace: str, spec: Plain) -> Plain:
    meta = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": meta, "spec": deepcopy(spec)}


async def tear_away(client: Client, obj: Object) -> None:
    """Delete what finalizers hold, and take those off, as somebody in a hurry does."""
    await client.delete(obj)
    operations = [{"op": "remove", "path": "/metadata/finalizers"}]
    await client.json_patch(type(obj), obj.metadata, operations)


def condition(cluster: Cluster, type: str) -> tuple[str, str]:
    """Status and reason of a condition."""
    assert cluster.status is not None
    found = condition_of(cluster.status.conditions, type)
    assert found is not None, f"there is no condition {type}"
    return found.status, found.reason


@asynccontextmanager
async def opened(options: Options = OPTIONS) -> AsyncIterator[InfraTestbed]:
    """A testbed in which the operator is at work."""
    cluster = InProcessCluster(rbac=True)
    await cluster.install(*KINDS)
    await cluster.create(Namespace(metadata=ObjectMeta(name="infra-secrets")))
    testbed = InfraTestbed(cluster, options)
    await testbed.start()
    try:
        yield testbed
    finally:
        await cluster.close()
