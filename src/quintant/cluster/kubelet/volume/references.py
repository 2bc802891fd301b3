"""VisitPodSecretNames, VisitPodConfigmapNames: what a pod refers to, from the caches.

Every sync reads all of it anew; nothing here remembers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from msgspec import Struct, field

from quintant.api.core import ConfigMap, PersistentVolume, PersistentVolumeClaim, Secret, Service
from quintant.api.pod import PodSpec
from quintant.cluster.kubelet.container import env
from quintant.cluster.kubelet.container.env import EnvSources
from quintant.cluster.kubelet.container.visit_containers import visit_containers
from quintant.cluster.kubelet.volume import projected
from quintant.cluster.kubelet.volume.projected import ServiceAccountTokenProjection, VolumeContents
from quintant.core.address import BindAddress
from quintant.core.object import K, Object
from quintant.runtime.cache.client import Client

Name = tuple[str, str]
"""A kind and a name."""


class References(Struct, frozen=True):
    """What there is of all that a pod refers to."""

    configs: Mapping[str, ConfigMap] = field(default_factory=dict)
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    claims: Mapping[str, PersistentVolumeClaim] = field(default_factory=dict)
    disks: Mapping[str, PersistentVolume] = field(default_factory=dict)
    """The volumes behind the claims."""
    services: tuple[Service, ...] = ()

    @property
    def versions(self) -> frozenset[tuple[str, str, str]]:
        """Which state this is; services come and go without any bearing on what is missing."""
        found: Iterable[Object] = chain(
            self.configs.values(), self.secrets.values(), self.claims.values(), self.disks.values()
        )
        return frozenset(
            (type(each).__name__, each.metadata.name, each.metadata.resource_version)
            for each in found
        )

    def sources(self, api: BindAddress) -> EnvSources:
        """What variables are made of."""
        return EnvSources(api, self.configs, self.secrets, self.services)

    def contents(self, tokens: Mapping[ServiceAccountTokenProjection, str]) -> VolumeContents:
        """What volumes are filled from."""
        return VolumeContents(self.configs, self.secrets, tokens)


def referenced_names(spec: PodSpec) -> frozenset[Name]:
    """Everything that a pod refers to by name."""
    containers = visit_containers(spec)
    return frozenset(
        chain(projected.volume_references(spec), *(env.env_references(each) for each in containers))
    )


async def read_references(client: Client, spec: PodSpec, namespace: str) -> References:
    """What there is of it."""
    wanted = referenced_names(spec)
    claims = await _found(client, PersistentVolumeClaim, wanted, namespace)
    bound = {("PersistentVolume", each.spec.volume_name) for each in claims.values()}
    return References(
        await _found(client, ConfigMap, wanted, namespace),
        await _found(client, Secret, wanted, namespace),
        claims,
        await _found(client, PersistentVolume, bound, ""),
        tuple(await client.list(Service, namespace)),
    )


async def _found(
    client: Client, kind: type[K], wanted: Iterable[Name], namespace: str
) -> dict[str, K]:
    found = {}
    for word, name in wanted:
        if word == kind.__name__ and name:
            obj = await client.find(kind, name, namespace)
            if obj is not None:
                found[name] = obj
    return found
