"""DeleteOptions, BeforeDelete: deletion: preconditions, propagation, finalizers, grace.

An object with finalizers is only marked; whoever removes the last finalizer removes the object
(quintant.cluster.apiserver.handlers.write). Dependents are a garbage collector's work: here an
owner only gets the finalizer that asks for it.
"""

from __future__ import annotations

import msgspec

from quintant.cluster.apiserver.handlers.delete_options import DeleteOptions
from quintant.cluster.apiserver.handlers.store import ObjectStore
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.metadata_rules import deleting, has_finalizers
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.meta.types import DeletionPropagation, JsonObject
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.core.clock import Clock, capped_timedelta, timestamp

FINALIZERS = {
    DeletionPropagation.FOREGROUND: "foregroundDeletion",
    DeletionPropagation.ORPHAN: "orphan",
}
DEFAULT_GRACE_SECONDS = 30
"""A pod's grace when its spec does not say."""
_FINISHED = ("Succeeded", "Failed")


class DeleteResult(msgspec.Struct, frozen=True):
    """What a deletion came to: the object's last state, and whether it is gone."""

    entry: StoredEntry
    gone: bool
    warnings: tuple[str, ...] = ()
    rv: int = 0
    """The revision of the end, if there was one."""


class Deletes:
    """The delete path of every kind."""

    def __init__(self, stored: ObjectStore, clock: Clock) -> None:
        self._stored = stored
        self._clock = clock

    def delete(self, target: ObjectRef, options: DeleteOptions = DeleteOptions()) -> DeleteResult:
        """Remove an object, or mark it while finalizers or grace hold it; 404 if there is none."""
        entry = self._stored.get(target)
        obj = stored_json.unpack(target.kind, entry)
        check_preconditions(target, obj, options)
        marked = self._marked(target.kind, obj, options)
        if options.dry_run:
            gone = not has_finalizers(target.kind, marked)
            unmarked = gone and not target.kind.strategy.delete.graceful
            last = entry if unmarked else stored_json.pack(target.kind, marked, entry.rv)
            return DeleteResult(last, gone=gone)
        if not has_finalizers(target.kind, marked):
            if target.kind.strategy.delete.graceful and not deleting(obj):
                entry = self._stored.put(target, marked)
            return DeleteResult(entry, gone=True, rv=self._stored.remove(target))
        return DeleteResult(
            entry if marked == obj else self._stored.put(target, marked), gone=False
        )

    def needs_admission(self, target: ObjectRef, options: DeleteOptions) -> bool:
        """Whether a deletion is one to ask webhooks about: preconditions hold, and it is news."""
        obj = stored_json.unpack(target.kind, self._stored.get(target))
        check_preconditions(target, obj, options)
        graceful = target.kind.strategy.delete.graceful
        return not (graceful and self._marked(target.kind, obj, options) == obj)

    def _marked(self, kind: Kind, obj: JsonObject, options: DeleteOptions) -> JsonObject:
        """The object as deletion leaves it while something holds it."""
        metadata = _with_finalizers(kind, dict(obj["metadata"]), options)
        grace = _grace(kind, obj, options)
        if deleting(obj) and grace >= metadata.get("deletionGracePeriodSeconds", 0):
            return {**obj, "metadata": metadata}
        metadata["deletionTimestamp"] = timestamp(self._clock.now() + capped_timedelta(grace))
        if (on_delete := kind.strategy.delete.on_delete) is not None:
            marked = {**obj, "metadata": metadata}
            on_delete(marked, metadata["deletionTimestamp"])
            return marked
        metadata["deletionGracePeriodSeconds"] = grace
        if metadata.get("generation") and not deleting(obj):
            metadata["generation"] += 1
        return {**obj, "metadata": metadata}


def check_preconditions(target: ObjectRef, obj: JsonObject, options: DeleteOptions) -> None:
    """Refuse to delete what is not the object that was meant: 409."""
    metadata = obj["metadata"]
    for precondition, name, word, perhaps in (
        (options.uid, "uid", "UID", "deleted and then recreated"),
        (options.rv, "resourceVersion", "ResourceVersion", "modified"),
    ):
        if precondition and precondition != metadata[name]:
            raise _failed(
                target,
                f"the {word} in the precondition ({precondition}) does not match the {word} in "
                f"record ({metadata[name]}). The object might have been {perhaps}",
            )


def _failed(target: ObjectRef, message: str) -> StatusError:
    resource = target.kind.resource
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    text = f'Operation cannot be fulfilled on {kind} "{target.name}": {message}'
    details = {"name": target.name, "group": resource.group, "kind": resource.kind}
    return StatusError(
        409, "Conflict", text, {key: value for key, value in details.items() if value}
    )


def _with_finalizers(kind: Kind, metadata: JsonObject, options: DeleteOptions) -> JsonObject:
    """Metadata with the finalizer that the propagation asks for, and not the other one."""
    if kind.strategy.delete.default_propagation is None:
        return metadata
    propagation = (
        options.propagation
        or _former_propagation(metadata)
        or kind.strategy.delete.default_propagation
    )
    ours = set(FINALIZERS.values())
    rest = [name for name in metadata.get("finalizers") or [] if name not in ours]
    finalizers = rest + ([FINALIZERS[propagation]] if propagation in FINALIZERS else [])
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)
    return metadata


def _former_propagation(metadata: JsonObject) -> DeletionPropagation | None:
    present = metadata.get("finalizers") or []
    for propagation, finalizer in FINALIZERS.items():
        if finalizer in present:
            return propagation
    return None


def _grace(kind: Kind, obj: JsonObject, options: DeleteOptions) -> int:
    if not kind.strategy.delete.graceful:
        return 0
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in _FINISHED:
        return 0
    default = spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_SECONDS)
    grace = default if options.grace is None else options.grace
    return 1 if grace < 0 else int(grace)


def orphan_warnings(kind: Kind, options: DeleteOptions) -> list[str]:
    """What to warn of where the options say nothing of dependents."""
    warning = kind.strategy.delete.orphan_warning
    return [warning] if warning and options.silent else []
