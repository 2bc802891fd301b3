"""RESTCreateStrategy, RESTUpdateStrategy, RESTDeleteStrategy: a kind's behaviour.

A `Strategy` says what happens to an object of a kind on its way to the store and back; whoever
handles requests asks it and never tests for a kind by name. Built-in kinds have theirs from
quintant.cluster.apiserver.registry, custom resources from quintant.cluster.apiserver.crd.strategy.
Everything here is a value; a function that is absent has nothing to do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors
from quintant.cluster.apiserver.meta.types import (
    DeletionPropagation,
    JsonObject,
    OtherObjects,
    ValidationResult,
)
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.core.errors import Cause
from quintant.core.resource import Resource


class CreateStrategy(Struct, frozen=True):
    """How an object begins."""

    generate_missing_name: bool = False
    """A new object without a name is given one."""
    keep_status: bool = False
    """A status sent at creation is kept."""
    prepare_for_create: Callable[[JsonObject], None] | None = None
    """Adds what the server says about a new object, in place."""
    set_requester: Callable[[JsonObject, User], None] | None = None
    """Writes into a new object who asked for it, in place."""


class UpdateStrategy(Struct, frozen=True):
    """What an update may do."""

    allow_create_on_update: bool = False
    """PUT creates an absent object."""
    allow_unconditional_update: bool = False
    """PUT without a resourceVersion is accepted."""
    prepare_for_update: Callable[[JsonObject, JsonObject], None] | None = None
    """What an update of the live object does beside what its author wrote, in place."""
    prepare_subresource: Mapping[str, Callable[[JsonObject, JsonObject, str], None]] = {}
    """What an update through a subresource does at a time beside that, in place."""
    reset_fields: Mapping[str, tuple[tuple[str, ...], ...]] = {}
    """What a write through an endpoint leaves as it is, if that is not what others leave."""
    status_updates_metadata: bool = True
    """A write of the status may change labels and annotations too."""
    status_resets: frozenset[str] = frozenset()
    """The metadata that it may not change all the same."""


class DeleteStrategy(Struct, frozen=True):
    """How an object ends."""

    graceful: bool = False
    """Deletion waits for a grace period."""
    default_propagation: DeletionPropagation | None = DeletionPropagation.BACKGROUND
    """What DELETE does when it does not say; None keeps the object out of garbage collection."""
    returns_object: bool = False
    """DELETE answers the object instead of a Status."""
    on_delete: Callable[[JsonObject, str], None] | None = None
    """What deletion does to an object that a controller has to clean up after, in place."""
    orphan_warning: str = ""
    """What everybody is warned of who deletes an object without a word about its dependents."""


class ConversionStrategy(Struct, frozen=True):
    """How a stored object becomes one of this version, and back."""

    from_storage: Callable[[JsonObject], JsonObject] | None = None
    """From a stored object to what this kind shows, where that differs by more than a version."""
    to_storage: Callable[[JsonObject], JsonObject] | None = None
    """The way back."""
    convert_for_read: Callable[[Iterable[StoredEntry]], Awaitable[None]] | None = None
    """Has entries made ready to be shown, where that takes a webhook."""
    convert_for_write: Callable[[JsonObject], Awaitable[None]] | None = None
    """Has an object made ready to be stored, where that takes a webhook."""
    outdated_until: int = 0
    """Entries written up to this revision are migrated when they are read."""
    migrate: Callable[[JsonObject], JsonObject] | None = None
    """Brings an object that was written under another schema up to this one, in place."""


class ValidationStrategy(Struct, frozen=True):
    """What must hold for an object."""

    validate_name: Callable[[str], list[str]] = dns1123_subdomain_errors
    """What is wrong with a name, if anything."""
    unqualified_finalizers: bool = False
    """Its finalizers need neither a domain nor a standard name, as those of custom resources."""
    metadata_last: bool = False
    """Its metadata is looked at only when nothing else is wrong with it."""
    validate: Callable[[JsonObject, JsonObject | None], Iterable[Cause]] | None = None
    """What is wrong with an object that shall replace another or none, beyond its metadata."""
    validate_custom: (
        Callable[[JsonObject, JsonObject | None, str, Sequence[Cause]], ValidationResult] | None
    ) = None
    """What is wrong with an object that shall replace another or none, written as a whole or by a
    subresource, beside what was already found wrong with it."""
    reported_as: Resource | None = None
    """The resource as which a wrong object of the kind is reported, if it has another name."""


class Strategy(Struct, frozen=True):
    """How a kind behaves."""

    create: CreateStrategy = CreateStrategy()
    update: UpdateStrategy = UpdateStrategy()
    delete: DeleteStrategy = DeleteStrategy()
    conversion: ConversionStrategy = ConversionStrategy()
    validation: ValidationStrategy = ValidationStrategy()
    tracks_generation: bool = False
    """metadata.generation is 1 at creation and grows with every change of the spec."""
    prune: Callable[[JsonObject], list[str]] | None = None
    """Drops what the kind does not know, in place, and tells its paths."""
    default: Callable[[JsonObject], None] | None = None
    """Adds what the kind's schema says of what is absent, in place."""
    assign: Callable[[JsonObject, JsonObject | None, OtherObjects], None] | None = None
    """Adds what the server decides about a new object or an update of the live one, and nobody
    owns, in place."""
