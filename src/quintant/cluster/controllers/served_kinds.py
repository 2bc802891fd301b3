"""RESTMapper: types for every kind that the server serves (quintant.client.discovery).

Controllers that work on every kind there is (garbage collection, namespaces) cannot name them in
advance: they ask the server. A kind found this way is read as metadata alone.
"""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from quintant.core.object import Object
from quintant.core.resource import Resource, resource


@resource(group="*", version="*", plural="*")
class AllKinds(Object):
    """Stands for every kind in the permissions of a controller that works on all of them."""


@cache
def metadata_of(resource: Resource) -> type[Object]:
    """The type of a resource's objects, read as metadata alone."""
    kind: type[Object] = type(resource.kind, (Object,), {"__module__": __name__})
    kind.__resource__ = replace(resource, metadata_only=True)  # type: ignore[attr-defined]
    return kind
