"""Kinds for the tests of the runtime: small, and with everything that makes reading hard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from quintant.core import codec
from quintant.core.object import Custom, K, Model, Object, ObjectMeta, Opaque
from quintant.core.resource import projection, resource


class Mast(Model):
    """Part of a list that is merged by nobody."""

    height: Annotated[int, Meta(ge=1)] = 1


class ShipSpec(Model):
    """Constrained in every way a type can be."""

    name: Annotated[str, Meta(pattern="^[a-z]+$", max_length=8)] = "sloop"
    rig: Literal["sloop", "ketch"] = "sloop"
    crew: Annotated[int, Meta(ge=1, le=10)] | None = None
    masts: tuple[Mast, ...] = ()
    flags: Mapping[str, Annotated[str, Meta(min_length=3)]] = {}
    plan: Opaque | None = None


class ShipStatus(Model):
    """What a controller says."""

    afloat: bool | None = None
    port: str = ""


@resource(group="sea.quintant.dev", version="v1", status=True)
class Ship(Custom[ShipSpec, ShipStatus]):
    """A custom kind with a status."""


@resource(group="", version="v1")
class Chart(Object):
    """A kind without generation, like a ConfigMap."""

    data: Mapping[str, str] = {}


class HarbourStatus(Model):
    """The default of a status that is never None."""

    berths: int = 0


@resource(group="apps", version="v1", status=True)
class Harbour(Object):
    """A built-in kind: a projection whose status has a default of its own."""

    piers: tuple[Mast, ...] = ()
    status: HarbourStatus = HarbourStatus()


@resource(group="sea.quintant.dev", version="v1", namespaced=False)
class Ocean(Object):
    """A kind without namespaces."""


@projection(Chart)
class ChartView(Object):
    """Charts, without their data."""


def meta(name: str = "a", version: str = "", **fields: Any) -> ObjectMeta:
    """Metadata in the namespace of all tests."""
    return ObjectMeta(
        **{"name": name, "namespace": "sea", "resource_version": version, "uid": name, **fields}
    )


def ship(name: str = "a", version: str = "", *, rig: Any = "sloop", **fields: Any) -> Ship:
    """A ship in the sea."""
    return Ship(metadata=meta(name, version, **fields), spec=ShipSpec(rig=rig))


def chart(name: str = "a", version: str = "", *, data: Any = None, **fields: Any) -> Chart:
    """A chart in the sea."""
    return Chart(metadata=meta(name, version, **fields), data=data or {})


def again(obj: K, version: str) -> K:
    """The same object at another version."""
    plain = codec.to_plain(obj)
    plain["metadata"]["resourceVersion"] = version
    return codec.from_plain(type(obj), plain)
