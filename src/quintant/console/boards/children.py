"""The children of an object: what names it as its owner, and what those own in turn.

Owners are looked for in the kinds that are followed anyhow, and, while somebody looks, in
Kubernetes' own kinds of the object's namespace. Children in other namespaces have a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from quintant.console.boards.crd_panel import judge_plain
from quintant.console.boards.events import BUILT_IN
from quintant.console.boards.pods import PODS, CountedPod
from quintant.console.links import cut, is_simulated, object_link
from quintant.console.sources import AnyChange, Informers, Sources
from quintant.console.topics import AccessScope, TopicRow
from quintant.console.views import ConsoleObject, console_kind
from quintant.core.object import Object
from quintant.core.owner import OWNER_UID
from quintant.core.resource import Resource, resource_of
from quintant.runtime.observe.system_panel import ObjectState

OWNED = (
    "Deployment", "StatefulSet", "ReplicaSet", "Job", "CronJob", "Service",
    "PersistentVolumeClaim",
)  # fmt: skip
"""Kinds of Kubernetes that objects own, beside pods."""
LABELLED = ("Deployment", "Service")
"""Those that are owned across namespaces."""
MOST_CHILDREN = 500
MOST_DEPTH = 5
POD_STATES: dict[str, ObjectState] = {
    "Running": "working", "Succeeded": "well", "Pending": "working", "Failed": "broken",
}  # fmt: skip


class Children:
    """What belongs to one object, while somebody looks."""

    def __init__(
        self, sources: Sources, namespace: str, uid: str, changed: Callable[[], None]
    ) -> None:
        self._sources, self._uid, self._changed = sources, uid, changed
        self._informers: Informers = sources.open_informers()
        for name in OWNED if namespace else ():
            kind = console_kind(BUILT_IN[name])
            self._informers.add(kind, self._heard, namespaces=(namespace,))
        for name in LABELLED:
            kind = console_kind(BUILT_IN[name])
            self._informers.add(kind, self._heard, labels={OWNER_UID: uid})
        sources.subscribe(PODS, self._heard_pod)

    def close(self) -> None:
        """Look no more."""
        self._informers.close()
        self._sources.unsubscribe(PODS, self._heard_pod)

    def rows(self) -> dict[str, TopicRow]:
        """Children, and what they own, each by its uid."""
        found: dict[str, Object] = {}
        owners = {self._uid}
        for _ in range(MOST_DEPTH):
            more = {
                each.metadata.uid: each
                for each in self._candidates()
                if each.metadata.uid not in found and _owners(each) & owners
            }
            if not more or len(found) >= MOST_CHILDREN:
                break
            found |= more
            owners = set(more)
        kept = list(found.items())[:MOST_CHILDREN]
        return {f"child/{uid}": child_row(obj) for uid, obj in kept}

    def _candidates(self) -> Iterator[Object]:
        yield from self._informers.objects()
        yield from self._sources.every(ConsoleObject)
        yield from self._sources.objects(PODS)

    def _heard(self, _change: AnyChange) -> None:
        self._changed()

    def _heard_pod(self, _resource: Resource, change: AnyChange) -> None:
        if not change.initial:
            self._changed()


def child_row(obj: Object) -> TopicRow:
    """A child as a row."""
    resource, meta = resource_of(type(obj)), obj.metadata
    state, sentence = judge_child(obj)
    fields: dict[str, Any] = {
        "kind": resource.kind, "namespace": meta.namespace, "name": meta.name, "state": state,
        "sentence": cut(sentence, 500), "simulated": is_simulated(meta) or _simulated(obj),
        "link": object_link(resource, meta.name, meta.namespace),
    }  # fmt: skip
    return TopicRow(fields, AccessScope(resource.group, resource.plural, meta.namespace))


def judge_child(obj: Object) -> tuple[ObjectState, str]:
    """How a child is: by the replicas that are ready, by its phase, or by its conditions."""
    if isinstance(obj, CountedPod):
        if obj.ready:
            return "well", "it is ready"
        return POD_STATES.get(obj.phase, "unknown"), f"it is {obj.phase or 'not yet known'}"
    if not isinstance(obj, ConsoleObject):
        return "unknown", ""
    plain, resource = obj.plain(), resource_of(type(obj))
    if resource.group == "apps":
        return _judge_replicas(plain)
    if resource.plural == "services":
        return "well", "it has no state of its own"
    return judge_plain(plain)


def _judge_replicas(plain: dict[str, Any]) -> tuple[ObjectState, str]:
    spec, status = plain.get("spec"), plain.get("status")
    wanted = spec.get("replicas", 1) if isinstance(spec, dict) else 1
    ready = status.get("readyReplicas", 0) if isinstance(status, dict) else 0
    sentence = f"{ready} of {wanted} ready"
    return ("well" if ready == wanted else "working"), sentence


def _owners(obj: Object) -> set[str]:
    meta = obj.metadata
    found = {each.uid for each in meta.owner_references}
    return found | {meta.labels[OWNER_UID]} if OWNER_UID in meta.labels else found


def _simulated(obj: Object) -> bool:
    return isinstance(obj, CountedPod) and obj.simulated
