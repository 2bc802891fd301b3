"""scaleForResourceMappings: the Scale of whatever an autoscaler names, read and written.

Which resource a kind is, is asked of the server once, and again when it is not found any more.
"""

from __future__ import annotations

from msgspec import Struct

from quintant.api.kubernetes.autoscaling_v2 import CrossVersionObjectReference
from quintant.client.discovery import discover
from quintant.cluster.controllers.podautoscaler.views import TargetScale
from quintant.cluster.controllers.served_kinds import metadata_of
from quintant.core import codec
from quintant.core.errors import ApiError, NotFound
from quintant.core.object import Object, ObjectMeta
from quintant.core.resource import Resource
from quintant.runtime.cache.client import Client

SCALE = "scale"


class ScaleUnavailable(Exception):
    """The scale of a target cannot be read; the text says why."""


class ScaleTarget(Struct, frozen=True):
    """What is scaled, and its Scale when it was read."""

    obj: Object
    scale: TargetScale


class ScaleClient:
    """Reads and writes scales."""

    def __init__(self) -> None:
        self._mappings: dict[tuple[str, str], tuple[Resource, ...]] = {}
        """The resources of a kind in a group, the preferred version first."""

    async def get(
        self, client: Client, namespace: str, target: CrossVersionObjectReference
    ) -> ScaleTarget:
        """The scale of a target; ScaleUnavailable if there is none."""
        group = _group(target.api_version)
        failures = []
        for resource in await self._resources(client, group, target.kind):
            meta = ObjectMeta(name=target.name, namespace=namespace)
            obj = metadata_of(resource)(metadata=meta)
            try:
                found = await client.subresource(obj, SCALE).get()
                return ScaleTarget(obj, codec.decode_model(TargetScale, codec.encode(found)))
            except ApiError as error:
                failures.append(error)
        if any(isinstance(error, NotFound) for error in failures):
            self._mappings.pop((group, target.kind), None)
        raise ScaleUnavailable(failures[0].message)

    async def update(self, client: Client, target: ScaleTarget, replicas: int) -> None:
        """Make a target so large."""
        await client.subresource(target.obj, SCALE).patch({"spec": {"replicas": replicas}})

    async def _resources(self, client: Client, group: str, kind: str) -> tuple[Resource, ...]:
        if (group, kind) not in self._mappings:
            served = [each.resource for each in await discover(client.rest)]
            found = [each for each in served if (each.group, each.kind) == (group, kind)]
            if not found:
                raise ScaleUnavailable(f'no matches for kind "{kind}" in group "{group}"')
            self._mappings[group, kind] = tuple(found)
        return self._mappings[group, kind]


def _group(api_version: str) -> str:
    """schema.ParseGroupVersion: the group of a version; none is that of the first kinds."""
    group, slash, version = api_version.partition("/")
    if "/" in version:
        raise ScaleUnavailable(f"unexpected GroupVersion string: {api_version}")
    return group if slash else ""
