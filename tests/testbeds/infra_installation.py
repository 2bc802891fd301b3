"""infra as it is installed on a real API server, with nobody else in the cluster.

The operator works in the test's own process as the service account that `deploy/infra` makes, and
the server's own RBAC decides. The provider and the made clusters are modelled.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import structs

import patience
from envtest import RealCluster
from quintant import Client, Config
from quintant.api.core import Namespace, Secret
from quintant.client.config.user import Impersonate
from quintant.client.http.transport import HttpTransport
from quintant.core.object import K, Object, ObjectMeta
from quintant.core.resource import resource_of
from quintant.core.yaml import load_all
from quintant.operators import OPERATORS
from quintant.operators.infra import controllers
from quintant.operators.infra.api import HOSTS, WATCH_LABEL, Cluster
from quintant.operators.infra.remote import Remote
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds
from quintant.runtime.manager.manager import Manager
from quintant.testing.faults.transport import FaultTransport
from quintant.testing.simulate.remotes.provider import ModelledProvider
from testbeds.infra import API_VERSION, KINDS, OPTIONS, PASSWORD, ModelledTargets
from testbeds.rights import DEPLOY

PROGRAM = OPERATORS["infra"]
WAIT_SECONDS = 60.0
_QUICK = structs.replace(OPTIONS, poll_min=0.3, observe_interval=3.0)
_MERGE = "application/merge-patch+json"

Plain = dict[str, Any]


@dataclass
class InfraInstallation:
    """The cluster, the operator's way to it, and what a test does with them."""

    client: Client
    sent: FaultTransport
    """What the operator sends, under the roles that are installed."""
    namespace: str
    """Of Clusters and what they need."""
    model: ModelledProvider = field(default_factory=ModelledProvider)
    targets: ModelledTargets = field(default_factory=lambda: ModelledTargets(delay=0.1))

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """The operator, with a lease."""
        manager = Manager(PROGRAM.name, leader_elect=True)
        controllers(manager, _QUICK, Remote(self.model.at, self.targets))
        async with manager.running(Environment(self.sent, namespace=PROGRAM.namespace)):
            yield

    async def create(self, kind: type[Object], name: str, spec: Plain) -> None:
        """Create an object of ours as a user would."""
        resource = resource_of(kind)
        home = self.namespace if resource.namespaced else ""
        meta = {"name": name} | ({"namespace": home} if home else {})
        body = {"apiVersion": API_VERSION, "kind": resource.kind, "metadata": meta, "spec": spec}
        headers = {"Content-Type": "application/json"}
        await self.client.raw(
            "POST", resource.path(home), body=msgspec.json.encode(body), headers=headers
        )

    async def merge(self, kind: type[Object], name: str, change: Plain) -> None:
        """Change an object as a user would."""
        path = f"{resource_of(kind).path(self.namespace)}/{name}"
        body = msgspec.json.encode(change)
        await self.client.raw("PATCH", path, body=body, headers={"Content-Type": _MERGE})

    async def secret(self, name: str, namespace: str) -> None:
        """Apply the Secret of a provider."""
        meta = ObjectMeta(
            name=name, namespace=namespace, labels={WATCH_LABEL: "true"},
            annotations={HOSTS: "im:8800"},
        )  # fmt: skip
        given = {"username": "us", "password": PASSWORD}
        await self.client.apply(Secret(metadata=meta, string_data=given))

    async def state(self, state: str, name: str = "one") -> Cluster:
        """Wait for a state of a Cluster."""
        return await self.until(
            Cluster, name, lambda it: it.status is not None and it.status.state == state
        )

    async def until(self, kind: type[K], name: str, holds: Callable[[K], bool]) -> K:
        """An object as soon as it is as wanted."""
        found = await self.client.wait_for(
            kind, name, self.namespace, timeout=patience.seconds(WAIT_SECONDS),
            until=lambda it: it is not None and holds(it),
        )  # fmt: skip
        assert found is not None
        return found

    async def gone(self, obj: Object) -> None:
        """Wait until an object is gone."""
        meta = obj.metadata
        await self.client.wait_for(
            type(obj), meta.name, meta.namespace, timeout=patience.seconds(WAIT_SECONDS),
            until=lambda it: it is None or it.metadata.uid != meta.uid,
        )  # fmt: skip

    async def delete(self, kind: type[Object], name: str) -> None:
        """Delete an object, and wait until it is gone."""
        home = self.namespace if resource_of(kind).namespaced else ""
        found = await self.client.get(kind, name, home, live=True)
        await self.client.delete(found)
        await self.gone(found)


@asynccontextmanager
async def installed_on(
    real: RealCluster, client: Client, namespace: str
) -> AsyncIterator[InfraInstallation]:
    """The definitions and roles of `deploy/infra`, and the way of the account that they make."""
    await install_crds(client.rest.transport, list(KINDS))
    for name in (namespace, OPTIONS.global_secrets_namespace):
        await client.apply(Namespace(metadata=ObjectMeta(name=name)))
    for file in ("namespace.yaml", "rbac.yaml"):
        documents = load_all((DEPLOY / PROGRAM.name / "operator" / file).read_bytes())
        await Applier(client.rest, "tests").apply(documents)
    config = Config.load(real.kubeconfig)
    user = Impersonate(user=f"system:serviceaccount:{PROGRAM.namespace}:{PROGRAM.name}")
    account = HttpTransport(
        structs.replace(config, user=structs.replace(config.user, impersonate=user))
    )
    try:
        yield InfraInstallation(client, FaultTransport(account), namespace)
    finally:
        await account.close()
