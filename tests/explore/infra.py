"""infra at every point: create, update, heal, delete, adopt. One infrastructure, and none left.

The provider is modelled with its habits: it forgets what is deleted too early, and launches twice
what is asked for twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from quintant.api.core import Secret
from quintant.core import codec
from quintant.core.object import Object, Opaque, replace
from quintant.operators.infra import controllers
from quintant.operators.infra.api import (
    HOSTS,
    INFRASTRUCTURE,
    Cloud,
    Cluster,
    InfrastructureClaim,
    InfrastructureProvider,
)
from quintant.operators.infra.remote import Remote
from quintant.runtime.manager.manager import Manager
from quintant.runtime.shard.layout import Shards
from quintant.testing import (
    FaultMode,
    InProcessCluster,
    RemoteModel,
    Scenario,
    ScenarioWorld,
    SpecScenario,
)
from quintant.testing.explore.injection.fault import CRASHES, MEMBER_MODES
from quintant.testing.simulate.remotes.provider import ModelledProvider
from testbeds.infra import KINDS, OPTIONS, PASSWORD, ModelledTargets, template

API = "infra.quintant.dev/v1alpha1"
SOON = {"reconfigure": {"backoff": "2s", "maxBackoff": "10s", "maxAttempts": 9}}


_MODES = tuple(each for each in FaultMode if each is not FaultMode.PARENT_DELETED)
"""For what deletes the Cluster itself, or leaves its infrastructure on purpose."""


def made(kind: type[Object], name: str, spec: dict[str, Any]) -> Any:
    """An object of ours."""
    body = {"metadata": {"name": name, "namespace": "default"}, "spec": spec}
    return codec.decode(kind, codec.encode(body))


def _kind_of_machine(machine: dict[str, Any]) -> dict[str, Any]:
    """A machine without what only this one has: its number, in its id, name and address."""
    rest = {key: each for key, each in machine.items() if key not in ("id", "addresses")}
    return {**rest, "name": str(machine.get("name", "")).rpartition("-")[0]}


def _with_template(cluster: Cluster, tosca: Opaque | None) -> Cluster:
    return replace(cluster, spec=replace(cluster.spec, tosca=tosca))


class _Infra(Scenario):
    """A provider and a cloud, and a Cluster to come."""

    bound = 7200.0
    # A creation of unknown outcome is searched for minutes long, and nothing changes meanwhile.
    calm = 900.0
    secrets = (PASSWORD,)

    def remotes(self) -> dict[str, RemoteModel]:
        return {"im": ModelledProvider()}

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("infra")
        controllers(manager, OPTIONS, Remote(self.im(world).at, ModelledTargets()))
        return [manager]

    def im(self, world: ScenarioWorld) -> ModelledProvider:
        found = world.remotes["im"]
        assert isinstance(found, ModelledProvider)
        return found

    async def prepare(self, cluster: InProcessCluster) -> None:
        await cluster.install(*KINDS)
        meta = {"name": "im-cred", "namespace": "default"}
        labels = {"infra.quintant.dev/watch": "true"}
        body = {"metadata": {**meta, "labels": labels, "annotations": {HOSTS: "im:8800"}}}
        body["stringData"] = {"username": "us", "password": PASSWORD}
        await cluster.create(codec.decode(Secret, codec.encode(body)))
        im = {"url": "http://im:8800", "credentialsSecretRef": {"name": "im-cred"}}
        await cluster.create(made(InfrastructureProvider, "im", {"type": "im", "im": im}))
        await cluster.create(made(Cloud, "here", {"type": "dummy", "providerRef": {"name": "im"}}))

    async def start(self, world: ScenarioWorld, **spec: Any) -> None:
        """Create the Cluster, and wait until it is online."""
        await world.create(made(Cluster, "one", {"tosca": template(), **SOON, **spec}))
        await world.quiet()

    def always(self, world: ScenarioWorld) -> None:
        model = self.im(world)
        assert len(model.infrastructures) <= 1, "two infrastructures"
        assert not [each for each in model.cloud.values() if not each.listed], "a lost machine"

    def settled(self, world: ScenarioWorld) -> None:
        model = self.im(world)
        known = {each.status.cluster_id for each in world.all(Cluster) if each.status}
        assert set(model.infrastructures) == known - {""}, "an infrastructure without a Cluster"
        uids = {each.metadata.uid for each in world.all(Cluster)}
        claims = [
            each.spec for each in world.all(InfrastructureClaim) if each.spec.holder.uid in uids
        ]
        assert {each.infrastructure_id for each in claims} == known - {""}, "another's is claimed"

    def normalise(self, document: dict[str, Any]) -> dict[str, Any] | None:
        if document.get("kind") == "InfrastructureClaim":
            return None  # named by an id; `settled` looks at them
        noted = document["metadata"].get("annotations") or {}
        if noted.get(INFRASTRUCTURE):
            noted[INFRASTRUCTURE] = "an infrastructure"
        if document.get("kind") in ("Cloud", "InfrastructureProvider"):
            # Whoever deletes what is in use finds that it stays until it is not.
            for name in ("deletionTimestamp", "deletionGracePeriodSeconds"):
                document["metadata"].pop(name, None)
        status = document.get("status") or {}
        status.pop("lastErrors", None)
        status.pop("fingerprint", None)  # of uids
        # A cloud that was made anew under its name is the same place.
        (status.get("runningOn") or {}).pop("uid", None)
        if status.get("clusterID"):
            # One that was made anew has another.
            status["clusterID"] = "an infrastructure"
        if status.get("infrastructure"):
            # And other machines: a provider numbers them as it makes them.
            vms = status["infrastructure"].get("vms", [])
            status["infrastructure"]["vms"] = sorted(map(_kind_of_machine, vms), key=repr)
        # Which of them was ever said depends on what went wrong on the way.
        said = status.get("conditions", [])
        told = [each for each in said if each["type"] not in ("Stalled", "InUse")]
        for each in told:
            each.pop("observedGeneration", None)  # one that was made anew has seen fewer
        status["conditions"] = sorted(told, key=lambda each: str(each["type"]))
        return document


class Create(_Infra):
    """A Cluster is made."""

    async def script(self, world: ScenarioWorld) -> None:
        await self.start(world)
        found = world.one(Cluster, "one")
        assert found is not None
        assert found.status is not None
        assert found.status.state == "ONLINE", found.status.state


class Update(_Infra):
    """A Cluster is scaled up and down."""

    async def script(self, world: ScenarioWorld) -> None:
        await self.start(world)
        for workers in (3, 1):
            tosca = made(Cluster, "one", {"tosca": template(workers)}).spec.tosca
            await world.edit(Cluster, "one", partial(_with_template, tosca=tosca))
            await world.quiet()
            assert len(self.im(world).running) == workers + 1


class Heal(_Infra):
    """What is not configured is configured again."""

    async def script(self, world: ScenarioWorld) -> None:
        await self.start(world)
        for machine in self.im(world).only().machines.values():
            machine.state = "unconfigured"
        await world.advance(70)
        await world.quiet()
        assert {each.state for each in self.im(world).only().machines.values()} == {"configured"}


class Delete(_Infra):
    """A Cluster is deleted."""

    modes = _MODES

    async def script(self, world: ScenarioWorld) -> None:
        await self.start(world)
        await world.delete(Cluster, "one")
        await world.quiet()
        assert not self.im(world).running


class DeleteEarly(_Infra):
    """A Cluster is deleted while the provider prepares its machines."""

    modes = _MODES

    async def script(self, world: ScenarioWorld) -> None:
        self.im(world).faults.prepare = 20
        await world.create(made(Cluster, "one", {"tosca": template(), **SOON}))
        await world.advance(2)
        await world.delete(Cluster, "one")
        await world.quiet()
        assert not self.im(world).running


class Adopt(_Infra):
    """A Cluster is let go, and another one takes its infrastructure over."""

    modes = _MODES

    async def script(self, world: ScenarioWorld) -> None:
        await self.start(world, deletionPolicy="Orphan")
        await world.delete(Cluster, "one")
        await world.quiet()
        spec = {"tosca": template(), "adoptInfrastructureID": "inf-1", **SOON}
        await world.create(made(Cluster, "two", spec))
        await world.quiet()


class InfraOfThreeMembers(_Infra):
    """Three members: one has the Cluster, perhaps another one the scheduler and the clouds."""

    replicas = 3
    modes = (*MEMBER_MODES, *CRASHES, FaultMode.LOST)

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("infra", shards=Shards(ranges=8))
        controllers(manager, OPTIONS, Remote(self.im(world).at, ModelledTargets()))
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await self.start(world)
        await world.delete(Cluster, "one")
        await world.quiet()
        assert not self.im(world).running


class ClusterSpecs(SpecScenario, _Infra):
    """Everything that can be said of a Cluster."""

    subject = made(Cluster, "one", {"tosca": template(), **SOON})
    fixed = ("tosca",)
    without_effect: Mapping[str, str] = {
        "customResources": "for programs that place applications",
        "deletionPolicy": "it is about the deletion",
        "inheritLabels": "its Cloud has no labels",
        "inheritMetrics": "it is reserved",
        "kubeconfigSecretRef": "of a cluster that exists already, and this one is made",
        "observer": "how the made cluster is looked at, which is well",
        "reconfigure": "how often what failed is tried again, and nothing fails",
        "replaceFailedVMs": "no machine fails",
        "timeouts": "everything is done in time",
    }

    def normalise(self, document: dict[str, Any]) -> dict[str, Any] | None:
        """That it was paused once, and whether anything is wrong, are conditions from then on."""
        found = super().normalise(document)
        conditions = (found or {}).get("status", {}).get("conditions", {})
        if isinstance(conditions, dict) and conditions.get("Paused", {}).get("status") == "False":
            del conditions["Paused"]
        return found

    def hopeless(self, document: dict[str, Any]) -> bool:
        """What is made stays as it is while it cannot be what is wanted."""
        return bool(document.get("status", {}).get("state") != "ONLINE")


class CloudSpecs(SpecScenario, _Infra):
    """Everything that can be said of a Cloud in which a Cluster runs."""

    subject = made(Cloud, "here", {"type": "dummy", "providerRef": {"name": "im"}})

    without_effect: Mapping[str, str] = {
        "deletionPolicy": "it has one value, which is the default",
    }

    def hopeless(self, document: dict[str, Any]) -> bool:
        """Who runs there stays while it has no provider, no credentials, or takes nobody."""
        conditions = document.get("status", {}).get("conditions", {})
        closed = document["spec"].get("schedulable") is False or "maxClusters" in document["spec"]
        return bool(closed or conditions.get("Ready", {}).get("status") != "True")

    async def prepare(self, cluster: InProcessCluster) -> None:
        await super().prepare(cluster)
        await cluster.client.delete(await cluster.get(Cloud, "here"))

    async def surroundings(self, world: ScenarioWorld) -> None:
        await world.create(made(Cluster, "one", {"tosca": template(), **SOON}))
