"""What the server serves: every kind, how it behaves, and where it is kept.

A `Kind` is one resource at one version, with the differences of behaviour that the machinery asks
about; nothing else in the cluster tests for a kind by name. Custom kinds come and go at run time
(quintant.cluster.apiserver.reconcilers.crd_lifecycle). Versions of one kind share a table of the
store.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors
from quintant.cluster.apiserver.meta.status import bad_request
from quintant.cluster.apiserver.meta.types import (
    DeletionPropagation,
    JsonObject,
    OtherObjects,
    ValidationResult,
)
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.structuredmerge.schema import DEDUCED, MergeSchema
from quintant.cluster.apiserver.tables import Message
from quintant.core.errors import Cause
from quintant.core.resource import Resource, Scale


class Kind(Struct, frozen=True, eq=False):
    """One resource at one version, and how it behaves."""

    resource: Resource
    table: str
    singular: str = ""
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    custom: bool = False
    """A custom resource: its list items carry their kind, protobuf and strategic merge do not."""
    generation: bool = False
    """metadata.generation is 1 at creation and grows with every change of the spec."""
    upsert: bool = False
    """PUT creates an absent object."""
    unconditional: bool = False
    """PUT without a resourceVersion is accepted."""
    graceful: bool = False
    """Deletion waits for a grace period."""
    propagation: DeletionPropagation | None = DeletionPropagation.BACKGROUND
    """What DELETE does when it does not say; None keeps the object out of garbage collection."""
    answers_object: bool = False
    """DELETE answers the object instead of a Status."""
    dying: Callable[[JsonObject, str], None] | None = None
    """What deletion does to an object that a controller has to clean up after, in place."""
    keeps_status: bool = False
    """A status sent at creation is kept."""
    status_metadata: bool = True
    """A write of the status may change labels and annotations too."""
    status_holds: frozenset[str] = frozenset()
    """The metadata that it may not change all the same."""
    naming: Callable[[str], list[str]] = dns1123_subdomain_errors
    """What is wrong with a name, if anything."""
    nameless: bool = False
    """A new object without a name is given one."""
    unqualified: bool = False
    """Its finalizers need neither a domain nor a standard name, as those of custom resources."""
    late: bool = False
    """Its metadata is looked at only when nothing else is wrong with it."""
    scale: Scale | None = None
    selectable: Mapping[str, str] = field(default_factory=dict)
    """Fields to select by, beside name and namespace, each with its path in a stored object."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Those paths, each with its value when absent."""
    unknown_field: str = "field label not supported: {label}"
    """How a field selector is refused."""
    message: Message | None = None
    """What a built-in kind is made of."""
    shape: MergeSchema = DEDUCED
    zero: Mapping[str, Any] = field(default_factory=dict)
    """What an empty object of the kind already has: those maps are not owned by who fills them."""
    complete: Callable[[JsonObject], None] | None = None
    """Adds what the server says about a new object, in place."""
    settle: Callable[[JsonObject, JsonObject | None, OtherObjects], None] | None = None
    """Adds what the server decides about a new object or an update of the live one, and nobody
    owns, in place."""
    complaints: Callable[[JsonObject, JsonObject | None], Iterable[Cause]] | None = None
    """What is wrong with an object that shall replace another or none, beyond its metadata."""
    revise: Callable[[JsonObject, JsonObject], None] | None = None
    """What an update of the live object does beside what its author wrote, in place."""
    judge: (
        Callable[[JsonObject, JsonObject | None, str, Sequence[Cause]], ValidationResult] | None
    ) = None
    """What is wrong with an object that shall replace another or none, written as a whole or by a
    subresource, beside what was already found wrong with it."""
    prune: Callable[[JsonObject], list[str]] | None = None
    """Drops what the kind does not know, in place, and tells its paths."""
    default: Callable[[JsonObject], None] | None = None
    """Adds what the kind's schema says of what is absent, in place."""
    shown: Callable[[JsonObject], JsonObject] | None = None
    """From a stored object to what this kind shows, where that differs by more than a version."""
    stored: Callable[[JsonObject], JsonObject] | None = None
    """The way back."""
    question: bool = False
    """Nothing is stored: creating one asks something, and the answer comes back."""
    computed: bool = False
    """Nothing is stored: an object is worked out whenever it is read, and cannot be written."""
    weight: int = 0
    """What looking at any object takes beside its own size, in bytes: some of a large schema."""
    declared: Mapping[str, Any] = field(default_factory=dict)
    """What the definition of a custom resource says of this version: its schema, its columns."""
    prime: Callable[[Iterable[StoredEntry]], Awaitable[None]] | None = None
    """Has entries made ready to be shown, where that takes a webhook."""
    stow: Callable[[JsonObject], Awaitable[None]] | None = None
    """Has an object made ready to be stored, where that takes a webhook."""
    kept: Kind | None = None
    """The version that objects are stored as, where getting there takes a webhook."""
    since: int = 0
    """Entries written up to this revision are renewed when they are read."""
    renew: Callable[[JsonObject], JsonObject] | None = None
    """Brings an object that was written under another schema up to this one, in place."""
    deprecation: str = ""
    """What everybody who uses the kind is warned of."""
    orphaning: str = ""
    """What everybody is warned of who deletes an object without a word about its dependents."""
    alias: Resource | None = None
    """The resource as which a wrong object of the kind is reported, if it has another name."""
    registry: str = ""
    """Where a real server keeps the kind, as some of its refusals tell."""

    @property
    def name(self) -> str:
        return self.resource.plural

    def key(self, namespace: str, name: str) -> str:
        """The key of an object in the kind's table."""
        return f"{namespace}/{name}" if self.resource.namespaced else name

    def field_path(self, label: str) -> str:
        """Where what a field selector names is found; 400 if nothing can be selected by it."""
        everybody = label == "metadata.name" or (
            label == "metadata.namespace" and (self.resource.namespaced or not self.selectable)
        )
        path = label if everybody else self.selectable.get(label)
        if path is None:
            raise bad_request(self.unknown_field.format(label=label, kind=self.resource.kind))
        return path


class Catalog:
    """The kinds served now, by where they are found."""

    def __init__(self, kinds: Iterable[Kind] = ()) -> None:
        self._kinds: dict[tuple[str, str, str], Kind] = {}
        self.derived: dict[str, Any] = {}
        """What others have worked out of the kinds; forgotten when those change."""
        self._groups: dict[str, dict[str, list[Kind]]] = {}
        self.add(kinds)

    def __iter__(self) -> Iterator[Kind]:
        return iter(tuple(self._kinds.values()))

    def add(self, kinds: Iterable[Kind]) -> None:
        """Serve these kinds from now on, in place of their namesakes."""
        self.derived.clear()
        for kind in kinds:
            where = kind.resource
            self._kinds[where.group, where.version, where.plural] = kind
        self._file()

    def remove(self, group: str, plural: str) -> None:
        """Serve a resource no longer, at any version."""
        self.derived.clear()
        self._kinds = {
            where: kind
            for where, kind in self._kinds.items()
            if (where[0], where[2]) != (group, plural)
        }
        self._file()

    def find(self, group: str, version: str, plural: str) -> Kind | None:
        """The kind found at a path."""
        return self._kinds.get((group, version, plural))

    def group(self, group: str) -> list[Kind]:
        """The kinds of a group."""
        return [kind for kinds in self._groups.get(group, {}).values() for kind in kinds]

    def version(self, group: str, version: str) -> list[Kind]:
        """The kinds of a group at a version."""
        return list(self._groups.get(group, {}).get(version, ()))

    def tables(self) -> list[Kind]:
        """One kind per table: every object of the cluster is found through them once."""
        return list({kind.table: kind for kind in reversed(self._kinds.values())}.values())

    def _file(self) -> None:
        """Have the kinds by group and version: a definition may have thousands of versions."""
        groups: dict[str, dict[str, list[Kind]]] = {}
        for kind in self._kinds.values():
            where = kind.resource
            groups.setdefault(where.group, {}).setdefault(where.version, []).append(kind)
        # In one step, as a thread may be reading.
        self._groups = groups
