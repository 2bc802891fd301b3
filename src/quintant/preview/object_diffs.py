"""What became of the objects of a cluster: two states compared, object by object. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

import msgspec
from msgspec import Struct

from quintant.keys.sensitive import Sensitive
from quintant.preview.cluster_copy import ObjectId, Objects, uid_of
from quintant.preview.live_reader import JsonObject

HIDDEN, HIDDEN_CHANGED = "(hidden)", "(hidden, another value)"
_SERVERS = ("managedFields", "resourceVersion", "generation")
"""What a server counts, and no manager decides."""
_NEW = ("uid", "creationTimestamp")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class ObjectAction(Enum):
    """What became of an object, the worst first."""

    DELETE = "delete"
    REPLACE = "replace"
    CREATE = "create"
    UPDATE = "update"


_ORDER = {change: number for number, change in enumerate(ObjectAction)}


class ObjectDiff(Struct, frozen=True):
    """An object that is no longer as it was; without values of Secrets."""

    action: ObjectAction
    id: ObjectId
    before: JsonObject | None
    after: JsonObject | None
    values: Sensitive[bytes] = Sensitive(b"")
    """Of a Secret, before and after with its values: to compare two versions, not for people."""

    def whole(self) -> tuple[JsonObject | None, JsonObject | None]:
        """Before and after, a Secret with its values."""
        if not self.values:
            return self.before, self.after
        before, after = msgspec.json.decode(self.values.reveal())
        return before, after


def object_diffs(before: Objects, after: Objects) -> list[ObjectDiff]:
    """Every object that differs, deletions first."""
    found = [
        change
        for id in before.keys() | after.keys()
        if (change := _change(id, before.get(id), after.get(id))) is not None
    ]
    return sorted(found, key=lambda each: (_ORDER[each.action], each.id))


def differing(baseline: Iterable[ObjectDiff], changes: Iterable[ObjectDiff]) -> list[ObjectDiff]:
    """What one version makes of the same objects otherwise than another."""
    old, new = {each.id: each for each in baseline}, {each.id: each for each in changes}
    ids = old.keys() | new.keys()
    return object_diffs(_states(ids, old, new), _states(ids, new, old))


def collect_garbage(before: Objects, after: Objects) -> Objects:
    """The state once the garbage collector has deleted what had no other owners than those gone."""
    left = dict(after)
    gone = {uid_of(obj) for id, obj in before.items() if uid_of(obj) != uid_of(left.get(id))}
    while collected := [id for id, obj in left.items() if _owners(obj) and _owners(obj) <= gone]:
        gone |= {uid_of(left.pop(id)) for id in collected}
    return left


def new_conditions(changes: list[ObjectDiff]) -> set[tuple[str, str]]:
    """Type and status of each condition that an object has now and did not have before."""
    return {
        condition
        for each in changes
        for condition in _conditions(each.after) - _conditions(each.before)
    }


def _change(id: ObjectId, before: JsonObject | None, after: JsonObject | None) -> ObjectDiff | None:
    kind = _kind_of(before, after)
    new = _NEW if kind in (ObjectAction.CREATE, ObjectAction.REPLACE) else ()
    before, after = _without(before, _SERVERS), _without(after, (*_SERVERS, *new))
    if kind is None or (kind is ObjectAction.UPDATE and before == after):
        return None
    if (id.group, id.plural) != ("", "secrets"):
        return ObjectDiff(kind, id, before, after)
    values = Sensitive(msgspec.json.encode((before, after)))
    return ObjectDiff(kind, id, _hidden(before, None), _hidden(after, before), values)


def _states(
    ids: Iterable[ObjectId],
    changes: Mapping[ObjectId, ObjectDiff],
    others: Mapping[ObjectId, ObjectDiff],
) -> Objects:
    """How a version leaves objects: what it does not change is as both found it."""
    states = {id: _left(changes[id]) if id in changes else others[id].whole()[0] for id in ids}
    return {id: obj for id, obj in states.items() if obj is not None}


def _left(change: ObjectDiff) -> JsonObject | None:
    return None if change.action is ObjectAction.DELETE else change.whole()[1]


def _owners(obj: JsonObject) -> set[str]:
    references = obj["metadata"].get("ownerReferences")
    found = references if isinstance(references, list) else []
    return {str(each.get("uid") or "") for each in found if isinstance(each, dict)}


def _kind_of(before: JsonObject | None, after: JsonObject | None) -> ObjectAction | None:
    if before is None:
        return ObjectAction.CREATE if after is not None else None
    if after is None or (_deleting(after) and not _deleting(before)):
        return ObjectAction.DELETE
    same = before["metadata"].get("uid") == after["metadata"].get("uid")
    return ObjectAction.UPDATE if same else ObjectAction.REPLACE


def _deleting(obj: JsonObject) -> bool:
    return bool(obj["metadata"].get("deletionTimestamp"))


def _without(obj: JsonObject | None, fields: tuple[str, ...]) -> JsonObject | None:
    if obj is None:
        return None
    metadata = {key: value for key, value in obj["metadata"].items() if key not in fields}
    return {**obj, "metadata": metadata}


def _hidden(secret: JsonObject | None, other: JsonObject | None) -> JsonObject | None:
    """A Secret with the names of its values, and whether each is another one than before."""
    if secret is None:
        return None
    hidden = dict(secret)
    for field in ("data", "stringData"):
        values, before = secret.get(field), (other or {}).get(field)
        if isinstance(values, Mapping):
            known = before if isinstance(before, Mapping) else values
            hidden[field] = {
                key: HIDDEN if known.get(key, value) == value else HIDDEN_CHANGED
                for key, value in values.items()
            }
    annotations = secret["metadata"].get("annotations")
    if isinstance(annotations, Mapping) and _LAST_APPLIED in annotations:
        shown = {**annotations, _LAST_APPLIED: HIDDEN}
        hidden["metadata"] = {**secret["metadata"], "annotations": shown}
    return hidden


def _conditions(obj: JsonObject | None) -> set[tuple[str, str]]:
    status = obj.get("status") if obj is not None else None
    conditions = status.get("conditions") if isinstance(status, dict) else None
    return {
        (str(each.get("type")), str(each.get("status")))
        for each in (conditions if isinstance(conditions, list) else ())
        if isinstance(each, dict)
    }
