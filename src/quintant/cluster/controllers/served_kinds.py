"""What the server serves now, built-in or custom, and types for kinds that nobody declared.

Controllers that work on every kind there is (garbage collection, namespaces) cannot name them in
advance: they ask the server. A kind found this way is read as metadata alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from quintant.core.object import Model, Object
from quintant.core.resource import Resource, resource
from quintant.runtime.cache.client import Client

ROOTS = ("/api", "/apis")
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@resource(group="*", version="*", plural="*")
class AllKinds(Object):
    """Stands for every kind in the permissions of a controller that works on all of them."""


class ServedResource(Struct, frozen=True):
    """One resource, in one version, and what can be done with it."""

    resource: Resource
    verbs: frozenset[str]
    preferred: bool
    """Whether it is the version of its group that the server puts first."""


class _Kind(Model):
    kind: str = ""


class _Entry(Model):
    resource: str
    response_kind: _Kind = _Kind()
    scope: str = ""
    verbs: tuple[str, ...] = ()


class _Version(Model):
    version: str
    resources: tuple[_Entry, ...] = ()


class _Name(Model):
    name: str = ""


class _Group(Model):
    metadata: _Name = _Name()
    versions: tuple[_Version, ...] = ()


class _Groups(Model):
    items: tuple[_Group, ...] = ()


_groups = msgspec.json.Decoder(_Groups)


async def discover(client: Client) -> tuple[ServedResource, ...]:
    """Every resource of every version that is served now."""
    found: list[ServedResource] = []
    for root in ROOTS:
        body = await client.raw("GET", root, headers={"accept": AGGREGATED})
        found += parse_discovery(_groups.decode(body).items)
    return tuple(found)


def parse_discovery(groups: Iterable[_Group]) -> Iterator[ServedResource]:
    """The resources of a discovery document; each is preferred in the first version that has it."""
    for group in groups:
        seen: set[str] = set()
        for version in group.versions:
            for entry in version.resources:
                where = Resource(
                    group.metadata.name,
                    version.version,
                    entry.response_kind.kind,
                    entry.resource,
                    namespaced=entry.scope == "Namespaced",
                )
                yield ServedResource(where, frozenset(entry.verbs), entry.resource not in seen)
                seen.add(entry.resource)


@cache
def metadata_of(where: Resource) -> type[Object]:
    """The type of a resource's objects, read as metadata alone."""
    kind: type[Object] = type(where.kind, (Object,), {"__module__": __name__})
    kind.__resource__ = replace(where, metadata_only=True)  # type: ignore[attr-defined]
    return kind
