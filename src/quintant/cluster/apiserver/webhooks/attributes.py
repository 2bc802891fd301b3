"""admission.Attributes: the change that admission decides about: user, operation, old and new."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.user import User
from quintant.core.resource import Resource

CREATE = "CREATE"
UPDATE = "UPDATE"
DELETE = "DELETE"
CONNECT = "CONNECT"
NAMESPACES = "namespaces"


class Attributes(Struct, frozen=True):
    """A change under review."""

    operation: str
    kind: Kind
    document: Resource
    """What the objects are: the kind itself, or what a subresource speaks."""
    namespace: str
    """Of a namespace, it is that one."""
    name: str
    sub: str
    user: User
    obj: JsonObject | None = None
    old: JsonObject | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    dry_run: bool = False

    @property
    def about_namespace(self) -> bool:
        """Whether the resource is that of namespaces themselves."""
        resource = self.kind.resource
        return resource.plural == NAMESPACES and not resource.group

    @property
    def resource_name(self) -> str:
        """What a refusal calls the object."""
        metadata = (self.obj or {}).get("metadata") or {}
        names = (self.name, metadata.get("name"), metadata.get("generateName"), "Unknown")
        return next(name for name in names if name)

    @property
    def scoped(self) -> bool:
        """Whether what is changed lies in a namespace."""
        return bool(self.namespace) and not self.about_namespace
