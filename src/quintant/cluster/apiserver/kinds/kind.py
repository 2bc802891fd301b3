"""GroupVersionResource, APIResource: one resource at one version, its table, and its strategy.

Nothing else in the cluster tests for a kind by name: what differs between kinds is said here
(identity) or by the kind's `Strategy` (behaviour). Custom kinds come and go at run time
(quintant.cluster.apiserver.reconcilers.crd_lifecycle). Versions of one kind share a table of the
store.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct, field

from quintant.cluster.apiserver.go_types import MessageType
from quintant.cluster.apiserver.kinds.strategy import Strategy
from quintant.cluster.apiserver.meta.status import bad_request
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.structuredmerge.schema import DEDUCED, MergeSchema
from quintant.core.resource import Resource, Scale


class KindNames(Struct, frozen=True):
    """What else people call a kind."""

    singular: str = ""
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    listed: str = ""
    """The kind of a list, where it is not that of its items with `List` behind it."""


class FieldLabels(Struct, frozen=True):
    """What objects can be selected by, beside name and namespace."""

    paths: Mapping[str, str] = field(default_factory=dict)
    """Each label with its path in a stored object."""
    values: Mapping[str, str] = field(default_factory=dict)
    """The paths whose values an entry remembers, each with its value when absent."""
    fallbacks: Mapping[str, str] = field(default_factory=dict)
    """Paths that have the value of another one when absent."""
    refusal: str = "field label not supported: {label}"
    """How a field selector is refused."""


class DefinedSchema(Protocol):
    """The schema of a custom resource, as its definition has it."""

    @property
    def cost(self) -> int:
        """What looking at any object takes beside its own size, in bytes."""

    @property
    def digest(self) -> bytes:
        """The same for the same text."""

    def document(self) -> dict[str, Any]:
        """The schema as it was written, read again each time."""


class Kind(Struct, frozen=True, eq=False):
    """One resource at one version."""

    resource: Resource
    table: str
    """Where its objects are in the store."""
    strategy: Strategy = Strategy()
    names: KindNames = KindNames()
    field_labels: FieldLabels = FieldLabels()
    custom: bool = False
    """A custom resource: its list items carry their kind, protobuf and strategic merge do not."""
    create_only: bool = False
    """Nothing is stored: creating one asks something, and the answer comes back."""
    computed: bool = False
    """Nothing is stored: an object is worked out whenever it is read, and cannot be written."""
    scale: Scale | None = None
    message: MessageType | None = None
    """What a built-in kind is made of."""
    merge_schema: MergeSchema = DEDUCED
    zero: Mapping[str, Any] = field(default_factory=dict)
    """What an empty object of the kind already has: those maps are not owned by who fills them."""
    crd_version: Mapping[str, Any] = field(default_factory=dict)
    """What the definition of a custom resource says of this version, but for its schema."""
    schema: DefinedSchema | None = None
    """The schema of a custom resource that has one."""
    storage_kind: Kind | None = None
    """The version that objects are stored as, where getting there takes a webhook."""
    deprecation_warning: str = ""
    """What everybody who uses the kind is warned of."""
    etcd_prefix: str = ""
    """Where a real server keeps the kind, as some of its refusals tell."""

    @property
    def name(self) -> str:
        return self.resource.plural

    @property
    def list_kind(self) -> str:
        """What a list of objects calls itself."""
        return self.names.listed or f"{self.resource.kind}List"

    @property
    def request_cost(self) -> int:
        """What looking at any object takes beside its own size, in bytes."""
        return 0 if self.schema is None else self.schema.cost

    def default(self, obj: JsonObject) -> None:
        """Add what the kind says of what is absent, in place."""
        if (add_defaults := self.strategy.default) is not None:
            add_defaults(obj)

    def key(self, namespace: str, name: str) -> str:
        """The key of an object in the kind's table."""
        return f"{namespace}/{name}" if self.resource.namespaced else name

    def field_path(self, label: str) -> str:
        """Where what a field selector names is found; 400 if nothing can be selected by it."""
        paths = self.field_labels.paths
        everybody = label == "metadata.name" or (
            label == "metadata.namespace" and (self.resource.namespaced or not paths)
        )
        path = label if everybody else paths.get(label)
        if path is None:
            refusal = self.field_labels.refusal
            raise bad_request(refusal.format(label=label, kind=self.resource.kind))
        return path
