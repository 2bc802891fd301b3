"""crdHandler, EstablishingController, CRDFinalizer: custom kinds come and go.

The state of a definition is in its conditions, as on a real server, but nothing waits:

    created ──► NamesAccepted, not Established ──► Established ──► Terminating ──► gone
           └──► names taken by another definition (looked at again when one goes)

Each arrow is a status write. A changed schema swaps the kinds in one step and ends their watches.
"""

from __future__ import annotations

from functools import partial
from hashlib import sha256

import msgspec

from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.crd import definition as definitions
from quintant.cluster.apiserver.crd import kinds as crd_kinds
from quintant.cluster.apiserver.crd.approval import approval_condition
from quintant.cluster.apiserver.crd.conversion_spec import conversion_bundle_error
from quintant.cluster.apiserver.crd.conversion_webhook import Converter
from quintant.cluster.apiserver.crd.kinds import StorageEpochs
from quintant.cluster.apiserver.crd.names import accept_names
from quintant.cluster.apiserver.handlers.delete import Deletes
from quintant.cluster.apiserver.handlers.write import Writes
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.metadata_rules import deleting
from quintant.cluster.apiserver.meta.conditions import StatusCondition
from quintant.cluster.apiserver.meta.status import PageNotFound, forbidden
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.reconcilers.crd_status import (
    CLEARED,
    ESTABLISHED,
    INVALID_BUNDLE,
    NEVER,
    TERMINATING,
    StatusChange,
    with_accepted_names,
    with_status,
    without_finalizer,
)
from quintant.cluster.apiserver.storage.history import Change, StoredEntry
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Table
from quintant.cluster.apiserver.validation.webhooks.client_config import REVIEWS
from quintant.cluster.apiserver.watch.hub import WatchHub
from quintant.cluster.apiserver.webhooks.call import WebhookClient
from quintant.cluster.apiserver.webhooks.configuration import read_target
from quintant.core.clock import Clock, Random, timestamp

GROUP = "apiextensions.k8s.io"
PLURAL = "customresourcedefinitions"
TABLE = f"{PLURAL}.{GROUP}"
SERVER = WriteOptions(manager="kube-apiserver")


class ServedDefinition(msgspec.Struct, frozen=True):
    """What is served of a definition, without its schemas: they take the most memory of all."""

    group: str
    plural: str
    storage_version: str
    digest: bytes
    """Of all that serving depends on."""

    @classmethod
    def of(cls, definition: JsonObject) -> ServedDefinition:
        """What a definition says now."""
        spec, names = definition["spec"], definition["status"].get("acceptedNames")
        return cls(
            spec["group"],
            spec["names"]["plural"],
            definitions.storage_version(definition)["name"],
            sha256(msgspec.json.encode((spec, names), order="deterministic")).digest(),
        )


class CrdLifecycle:
    """The custom kinds of a catalogue, kept in step with the definitions in a store."""

    def __init__(
        self,
        store: RevisionStore,
        catalog: Catalog,
        hub: WatchHub,
        clock: Clock,
        caller: WebhookClient,
        random: Random,
    ) -> None:
        self._store = store
        self._caller, self._random = caller, random
        self._catalog = catalog
        self._hub = hub
        self._clock = clock
        self._served: dict[str, ServedDefinition] = {}
        self._terminating: set[str] = set()
        self._names: dict[str, JsonObject] = {}
        self._epochs: dict[str, StorageEpochs] = {}
        self._dirty: dict[str, None] = {}
        self._last: tuple[StoredEntry, JsonObject] | None = None
        store.table(TABLE).history.compressed = True
        store.subscribe(self._on_change)

    def check_create(self, target: ObjectRef) -> None:
        """403 for new objects of a definition that is being deleted, 404 after that."""
        if target.kind.custom and target.kind.table not in self._served:
            raise PageNotFound()
        if target.kind.custom and target.kind.table in self._terminating:
            text = "create not allowed while custom resource definition is terminating"
            raise forbidden(target.kind.resource, target.name, text)

    def reload(self) -> None:
        """Look at every definition again: the store's contents were exchanged."""
        self._names.clear()
        self._store.table(TABLE).history.compressed = True
        for name in [*self._served, *self._store.table(TABLE).keys]:
            self._withdraw(name)
            self._dirty[name] = None

    def reconcile(self, writes: Writes, deletes: Deletes) -> bool:
        """Bring one changed definition forward; whether there was one."""
        if not self._dirty:
            return False
        name = next(iter(self._dirty))
        del self._dirty[name]
        definition = self._read(name)
        if definition is None:
            self._withdraw(name)
        elif deleting(definition):
            self._clear(name, definition, writes, deletes)
        else:
            self._establish(name, definition, writes)
        return True

    def _establish(self, name: str, definition: JsonObject, writes: Writes) -> None:
        """Give a definition its names, and serve it if it has them or was served before."""
        spec, before = definition["spec"], definition["status"].get("acceptedNames") or {}
        naming = accept_names(spec["names"], before, self._neighbours(name, spec["group"]))
        self._mark(name, writes, partial(with_accepted_names, naming))
        accepted = self._read(name)
        assert accepted is not None, "it was just marked"
        established = ESTABLISHED.is_set(accepted["status"])
        if not established and naming.condition.status and conversion_bundle_error(accepted):
            self._mark(name, writes, INVALID_BUNDLE.set)
        elif established or naming.condition.status:
            self._serve(name, accepted)
            self._mark(name, writes, ESTABLISHED.set)
        if (approval := approval_condition(accepted)) is not None:
            self._mark(name, writes, approval.set)
        if before != naming.names:
            self._dirty |= dict.fromkeys(self._group(name, spec["group"]))

    def _serve(self, name: str, definition: JsonObject) -> None:
        before, served = self._served.get(name), ServedDefinition.of(definition)
        if before == served:
            return
        table = self._store.table(name)
        if before is None:
            # A client that asks for what was before has another kind in mind.
            table.history.compact(self._store.revision)
        kinds = crd_kinds.custom_kinds(
            definition, self._epoch(name, before, served), self._converter(definition)
        )
        self._catalog.remove(served.group, served.plural)
        self._catalog.add(kinds)
        self._served[name] = served
        if kinds and kinds[0].field_labels.values:
            self._store.update_field_values(
                table, partial(stored_json.field_values_of, kinds[0].storage_kind or kinds[0])
            )
        self._hub.close(name)

    def _converter(self, definition: JsonObject) -> Converter | None:
        """What converts the objects of a definition, if it is a webhook."""
        conversion = definition["spec"]["conversion"]
        if conversion["strategy"] != "Webhook":
            return None
        webhook = conversion["webhook"]
        review = next(each for each in webhook["conversionReviewVersions"] if each in REVIEWS)
        client = read_target(webhook["clientConfig"])
        return Converter(client, review, self._caller, self._random)

    def _epoch(
        self, name: str, before: ServedDefinition | None, served: ServedDefinition
    ) -> StorageEpochs:
        """Begin to store objects in another way; what there is was stored as it was until now."""
        if not self._store.table(name).entries:
            self._epochs[name] = StorageEpochs()
            return self._epochs[name]
        now, known = self._store.revision, self._epochs.get(name, StorageEpochs())
        ends = known.ends
        if before is not None:
            was, is_ = before.storage_version, served.storage_version
            ends = (*ends, (now, was)) if was != is_ else ends
        self._epochs[name] = StorageEpochs(ends, now)
        return self._epochs[name]

    def _withdraw(self, name: str) -> None:
        """Serve a definition no longer; others may have waited for its names."""
        served = self._served.pop(name, None)
        self._terminating.discard(name)
        if served is not None:
            self._catalog.remove(served.group, served.plural)
            self._hub.close(name)
        self._dirty |= dict.fromkeys(self._group(name, name.partition(".")[2]))

    def _clear(self, name: str, definition: JsonObject, writes: Writes, deletes: Deletes) -> None:
        """Delete the objects of a definition, then remove its finalizer."""
        if definitions.CLEANUP not in definition["metadata"].get("finalizers", ()):
            return
        self._terminating.add(name)
        self._mark(name, writes, TERMINATING.set)
        table, established = self._store.table(name), ESTABLISHED.is_set(definition["status"])
        kind = crd_kinds.storage_kind(definition)
        for key in list(table.keys) if established else ():
            namespace, _, own = key.rpartition("/")
            deletes.delete(ObjectRef(kind, namespace, own))
        if not (established and table.entries):
            self._withdraw(name)
            self._release(name, writes, CLEARED if established else NEVER)

    def _release(self, name: str, writes: Writes, condition: StatusCondition) -> None:
        now = timestamp(self._clock.now())
        writes.update(
            self._target(name, "status"), partial(without_finalizer, condition, now), SERVER
        )

    def _mark(self, name: str, writes: Writes, mark: StatusChange) -> None:
        """Write a definition's status; nothing happens if it says so already."""
        now, definition = timestamp(self._clock.now()), self._read(name)
        if definition is None or mark(definition["status"], now) != definition["status"]:
            target = self._target(name, "status")
            writes.update_by_server(target, partial(with_status, mark, now), SERVER)

    def _neighbours(self, name: str, group: str) -> list[JsonObject]:
        """The names that other definitions of the group have."""
        return [self._accepted(other) for other in self._group(name, group)]

    def _accepted(self, name: str) -> JsonObject:
        if name not in self._names:
            definition = self._read(name)
            self._names[name] = ((definition or {}).get("status") or {}).get("acceptedNames") or {}
        return self._names[name]

    def _group(self, name: str, group: str) -> list[str]:
        """The other definitions of a group: a definition's name is its plural and its group."""
        keys = self._store.table(TABLE).keys
        return [key for key in keys if key != name and key.partition(".")[2] == group]

    def _read(self, name: str) -> JsonObject | None:
        """A definition, not to be changed; a large one takes long, so it is read once in a row."""
        entry = self._store.table(TABLE).entries.get(name)
        if entry is None:
            return None
        if self._last is None or self._last[0] is not entry:
            self._last = entry, stored_json.unpack(self._target(name).kind, entry)
        return self._last[1]

    def _target(self, name: str, sub: str = "") -> ObjectRef:
        kind = self._catalog.find(GROUP, "v1", PLURAL)
        assert kind is not None, "a built-in kind is always served"
        return ObjectRef(kind, name=name, subresource=sub)

    def _on_change(self, table: Table, change: Change) -> None:
        """Remember definitions that changed, and those whose last object may be gone."""
        if table.name == TABLE:
            self._names.pop(change.key, None)
            self._dirty[change.key] = None
        elif change.cur is None and table.name in self._terminating:
            self._dirty[table.name] = None
