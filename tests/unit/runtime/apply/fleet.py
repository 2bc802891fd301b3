"""An owner and its children, for the tests of quintant.runtime.apply."""

from __future__ import annotations

from typing import Any

from quintant.api.core import ConfigMap
from quintant.core.object import Custom, Model, ObjectMeta, replace
from quintant.core.owner import owned
from quintant.core.resource import resource

NAMESPACE = "sea"


class FleetSpec(Model):
    ships: int = 0


class FleetStatus(Model):
    afloat: int | None = None


@resource(group="test.quintant.dev", version="v1", status=True)
class Fleet(Custom[FleetSpec, FleetStatus]):
    """Owns ConfigMaps."""


def fleet(
    name: str = "fleet", uid: str = "uid-fleet", namespace: str = NAMESPACE, generation: int = 1
) -> Fleet:
    meta = ObjectMeta(name=name, namespace=namespace, uid=uid, generation=generation)
    return Fleet(metadata=meta, spec=FleetSpec())


def ship(name: str, text: str = "", **meta: Any) -> ConfigMap:
    return ConfigMap(
        metadata=ObjectMeta(name=name, namespace=NAMESPACE, **meta),
        data={"text": text} if text else {},
    )


def stored(child: ConfigMap, uid: str = "") -> ConfigMap:
    """The child as the server would give it back."""
    meta = replace(
        child.metadata,
        uid=uid or child.metadata.uid or f"uid-{child.metadata.name}",
        resource_version="7",
        creation_timestamp="2026-01-01T00:00:00Z",
    )
    return replace(child, metadata=meta)


def sinking(child: ConfigMap) -> ConfigMap:
    return replace(
        child, metadata=replace(child.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
    )


def of(owner: Fleet, child: ConfigMap) -> ConfigMap:
    """The child, stored with another's word that it is this owner's."""
    return stored(owned(child, by=owner, across_namespaces=True))
