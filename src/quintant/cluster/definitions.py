"""Custom kinds at run time: serving begins and ends as definitions are written and deleted.

The state of a definition is in its conditions, as on a real server, but nothing waits:

    created ──► NamesAccepted, not Established ──► Established ──► Terminating ──► gone
           └──► names taken by another definition (looked at again when one goes)

Each arrow is a status write. A changed schema swaps the kinds in one step and ends their watches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from quintant.cluster import crd, wire
from quintant.cluster.catalog import Catalog, Plain
from quintant.cluster.conditions import Condition
from quintant.cluster.deletes import Deletes
from quintant.cluster.drafts import Target
from quintant.cluster.objects import deleting
from quintant.cluster.problems import forbidden
from quintant.cluster.ring import Change
from quintant.cluster.store import Store, Table
from quintant.cluster.watchers import Hub
from quintant.cluster.writes import Options, Writes
from quintant.runtime.clock import Clock, timestamp

GROUP = "apiextensions.k8s.io"
PLURAL = "customresourcedefinitions"
TABLE = f"{PLURAL}.{GROUP}"
SERVER = Options(manager="kube-apiserver")

Mark = Callable[[Plain, str], Plain]
"""From a status and the time to the status it shall be."""


class Definitions:
    """The custom kinds of a catalogue, kept in step with the definitions in a store."""

    def __init__(self, store: Store, catalog: Catalog, hub: Hub, clock: Clock) -> None:
        self._store = store
        self._catalog = catalog
        self._hub = hub
        self._clock = clock
        self._served: dict[str, Plain] = {}
        self._stirred: dict[str, None] = {}
        store.subscribe(self._told)

    def guard(self, target: Target) -> None:
        """403 for new objects of a definition that is being deleted."""
        found = self._read(target.kind.table) if target.kind.custom else None
        if found is not None and deleting(found):
            text = "create not allowed while custom resource definition is terminating"
            raise forbidden(target.kind.resource, target.name, text)

    def reload(self) -> None:
        """Look at every definition again: the store's contents were exchanged."""
        for name in [*self._served, *self._store.table(TABLE).keys]:
            self._withdraw(name)
            self._stirred[name] = None

    def settle(self, writes: Writes, deletes: Deletes) -> bool:
        """Bring one changed definition forward; whether there was one."""
        if not self._stirred:
            return False
        name = next(iter(self._stirred))
        del self._stirred[name]
        found = self._read(name)
        if found is None:
            self._withdraw(name)
        elif deleting(found):
            self._clear(name, found, writes, deletes)
        else:
            self._establish(name, found, writes)
        return True

    def _establish(self, name: str, found: Plain, writes: Writes) -> None:
        taken = self._taken(name, found)
        names = found["spec"]["names"]
        if taken:
            self._mark(name, writes, partial(_refused, names, taken))
            return
        self._mark(name, writes, partial(_accepted, names))
        self._serve(name, found)
        self._mark(name, writes, _ESTABLISHED.set)

    def _serve(self, name: str, found: Plain) -> None:
        before = self._served.get(name)
        if before is not None and before["spec"] == found["spec"]:
            return
        since = self._store.revision if self._store.table(name).entries else 0
        self._catalog.remove(found["spec"]["group"], found["spec"]["names"]["plural"])
        self._catalog.add(crd.kinds(found, since))
        self._served[name] = found
        self._hub.close(name)

    def _withdraw(self, name: str) -> None:
        """Serve a definition no longer; others may have waited for its names."""
        found = self._served.pop(name, None)
        if found is not None:
            self._catalog.remove(found["spec"]["group"], found["spec"]["names"]["plural"])
            self._hub.close(name)
            self._stirred |= dict.fromkeys(self._store.table(TABLE).keys)

    def _clear(self, name: str, found: Plain, writes: Writes, deletes: Deletes) -> None:
        """Delete the objects of a definition, then let the definition go."""
        self._mark(name, writes, _TERMINATING.set)
        table = self._store.table(name)
        kind = crd.kinds(found, 0)[0]
        for key in list(table.keys):
            namespace, _, own = key.rpartition("/")
            deletes.delete(Target(kind, namespace, own))
        if not table.entries:
            self._withdraw(name)
            writes.edit(self._target(name), _released, SERVER)

    def _mark(self, name: str, writes: Writes, mark: Mark) -> None:
        """Write a definition's status; nothing happens if it says so already."""
        now = timestamp(self._clock.now())
        target = self._target(name, "status")
        writes.edit(target, lambda live: {**live, "status": mark(live["status"], now)}, SERVER)

    def _taken(self, name: str, found: Plain) -> dict[str, str]:
        """The names that other definitions of the group already have, each with its reason."""
        spec = found["spec"]
        others = [
            served["spec"]["names"]
            for other, served in self._served.items()
            if other != name and served["spec"]["group"] == spec["group"]
        ]
        return {
            field: reason
            for field, reason in _CONFLICTS.items()
            if any(_overlap(spec["names"].get(field), names.get(field)) for names in others)
        }

    def _read(self, name: str) -> Plain | None:
        entry = self._store.table(TABLE).entries.get(name)
        return None if entry is None else wire.unpack(self._target(name).kind, entry)

    def _target(self, name: str, sub: str = "") -> Target:
        kind = self._catalog.find(GROUP, "v1", PLURAL)
        assert kind is not None, "a built-in kind is always served"
        return Target(kind, name=name, sub=sub)

    def _told(self, table: Table, change: Change) -> None:
        """Remember definitions that changed, and those whose last object may be gone."""
        if table.name == TABLE:
            self._stirred[change.key] = None
        elif change.cur is None and table.name in self._served:
            self._stirred[table.name] = None


_CONFLICTS = {
    "plural": "PluralConflict",
    "singular": "SingularConflict",
    "shortNames": "ShortNamesConflict",
    "kind": "KindConflict",
    "listKind": "ListKindConflict",
}
_ACCEPTED = Condition("NamesAccepted", True, "NoConflicts", "no conflicts found")
_INSTALLING = Condition("Established", False, "Installing", "the initial names have been accepted")
_WAITING = Condition("Established", False, "NotAccepted", "not all names are accepted")
_ESTABLISHED = Condition(
    "Established", True, "InitialNamesAccepted", "the initial names have been accepted"
)
_TERMINATING = Condition(
    "Terminating", True, "InstanceDeletionInProgress", "CustomResource deletion is in progress"
)


def _accepted(names: Plain, status: Plain, now: str) -> Plain:
    """The names are its own; serving may begin."""
    changed = _ACCEPTED.set({**status, "acceptedNames": names}, now)
    return changed if _INSTALLING.among(changed) else _INSTALLING.set(changed, now)


def _refused(names: Plain, taken: Mapping[str, str], status: Plain, now: str) -> Plain:
    """Some of the names are somebody else's."""
    free = {field: name for field, name in names.items() if field not in taken}
    accepted = {"plural": "", "kind": "", **free}
    field, reason = list(taken.items())[-1]
    refusal = Condition(
        "NamesAccepted", False, reason, f'"{_text(names[field])}" is already in use'
    )
    return _WAITING.set(refusal.set({**status, "acceptedNames": accepted}, now), now)


def _overlap(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return bool(set(one) & set(other or ()))
    return one is not None and one == other


def _text(names: Any) -> str:
    return ",".join(names) if isinstance(names, list) else str(names)


def _released(live: Plain) -> Plain:
    """The definition without the finalizer that held it for us."""
    metadata = live["metadata"]
    left = [name for name in metadata.get("finalizers", ()) if name != crd.CLEANUP]
    return {**live, "metadata": {**metadata, "finalizers": left}}
