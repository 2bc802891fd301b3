"""GraphBuilder, concurrentUIDToNode: every object by uid, and the dependents of each.

Fed by watches, asked by the collector. An owner that no watch has shown yet is known only by the
references to it. Every change answers with the uids that have to be looked at because of it; what
is to be done with them is decided elsewhere, from what the server says then.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from msgspec import Struct

from quintant.cluster.apiserver.handlers.delete import FINALIZERS
from quintant.cluster.apiserver.meta.types import DeletionPropagation
from quintant.core.object import ObjectMeta, OwnerReference, Request
from quintant.core.resource import Resource

FOREGROUND = FINALIZERS[DeletionPropagation.FOREGROUND]
ORPHAN = FINALIZERS[DeletionPropagation.ORPHAN]
GONE_LIMIT = 10_000
"""Owners remembered as gone. Their resource may be gone, too, and then nobody else could tell."""

Uids = Iterable[str]


class GraphNode(Struct, frozen=True):
    """An object, as far as ownership goes."""

    uid: str
    resource: Resource
    key: Request
    owners: tuple[OwnerReference, ...] = ()
    waiting: bool = False
    """It is being deleted, and waits for its dependents to go first."""
    orphaning: bool = False
    """It is being deleted, and waits for its dependents to be let go."""

    @property
    def status(self) -> tuple[bool, bool]:
        return self.waiting, self.orphaning

    @property
    def pending(self) -> bool:
        """Whether its deletion waits for the collector."""
        return any(self.status)

    def reference(self, owner: str) -> OwnerReference | None:
        """How it refers to one of its owners."""
        return next((ref for ref in self.owners if ref.uid == owner), None)

    def blocks(self, owner: str) -> bool:
        """Whether an owner that deletes in the foreground has to wait for it."""
        ref = self.reference(owner)
        return ref is not None and bool(ref.block_owner_deletion)


def graph_node(resource: Resource, meta: ObjectMeta) -> GraphNode:
    """The node of an object."""
    going = meta.deletion_timestamp is not None
    return GraphNode(
        meta.uid,
        resource,
        Request(meta.name, meta.namespace),
        meta.owner_references,
        waiting=going and FOREGROUND in meta.finalizers,
        orphaning=going and ORPHAN in meta.finalizers,
    )


class OwnerGraph:
    """Nodes by uid, and dependents by the uid of their owner, seen or not."""

    def __init__(self) -> None:
        self._nodes: dict[str, GraphNode] = {}
        self._dependents: dict[str, dict[str, None]] = {}
        self._gone: dict[str, str] = {}

    def get(self, uid: str) -> GraphNode | None:
        return self._nodes.get(uid)

    def is_gone(self, uid: str, namespace: str) -> bool:
        """Whether an owner was there for those in a namespace, and is not any more.

        A uid never comes back, so this needs no second look.
        """
        return self._gone.get(uid) in (namespace, "")

    def dependents(self, uid: str) -> list[GraphNode]:
        """Every node that refers to an owner."""
        return [self._nodes[each] for each in sorted(self._dependents.get(uid, ()))]

    def blocking(self, uid: str) -> list[GraphNode]:
        """The dependents that an owner has to wait for when it is deleted in the foreground."""
        return [each for each in self.dependents(uid) if each.blocks(uid)]

    def put(self, new: GraphNode) -> Uids:
        """Note an object, new or changed."""
        old = self._nodes.get(new.uid)
        self._nodes[new.uid] = new
        before, after = old.owners if old else (), new.owners
        if before is not after and before != after:
            self._connect(new.uid, before, after)
        return dict.fromkeys(self._affected(old, new))

    def remove(self, uid: str) -> Uids:
        """Note that an object is gone."""
        gone = self._nodes.pop(uid, None)
        woken = list(self._dependents.get(uid, ()))
        if gone is not None:
            if woken:
                self._remember_absent(gone)
            self._connect(uid, gone.owners, ())
            woken += self._waiting(gone.owners)
        return dict.fromkeys(woken)

    def remove_resource(self, resource: Resource, but: Container[str] = ()) -> Uids:
        """Note that all objects of a resource are gone, but those."""
        gone = [
            each.uid
            for each in self._nodes.values()
            if each.resource == resource and each.uid not in but
        ]
        return dict.fromkeys(uid for each in gone for uid in self.remove(each))

    def pending(self) -> Uids:
        """Everything that has to be looked at if nothing was so far."""
        return dict.fromkeys(
            uid for each in self._nodes.values() for uid in self._affected(None, each)
        )

    def cross_namespace_refs(self, dependent: GraphNode) -> list[OwnerReference]:
        """References to objects that are known to live in another namespace."""
        return [
            ref
            for ref in dependent.owners
            if (owner := self._nodes.get(ref.uid)) is not None
            and owner.resource.namespaced
            and owner.key.namespace != dependent.key.namespace
        ]

    def has_unseen_owner(self, dependent: GraphNode) -> bool:
        """Whether it has an owner that no watch has shown yet."""
        return any(ref.uid not in self._nodes for ref in dependent.owners)

    def _remember_absent(self, owner: GraphNode) -> None:
        self._gone[owner.uid] = owner.key.namespace
        if len(self._gone) > GONE_LIMIT:
            del self._gone[next(iter(self._gone))]

    def _affected(self, old: GraphNode | None, new: GraphNode) -> Iterator[str]:
        if self._needs_processing(old, new):
            yield new.uid
        if old is not None:
            yield from self._waiting(
                ref for ref in old.owners if ref.block_owner_deletion and not new.blocks(ref.uid)
            )
        if new.waiting and not (old and old.waiting):
            yield from self._dependents.get(new.uid, ())
        if old is None:
            for each in self.dependents(new.uid):
                ref = each.reference(new.uid)
                if ref is not None and not self._matches(each, ref):
                    yield each.uid

    def _needs_processing(self, old: GraphNode | None, new: GraphNode) -> bool:
        """Whether a node itself has to be looked at: it begins to wait, or has a new owner."""
        if new.pending and (old is None or old.status != new.status):
            return True
        known = old.owners if old is not None else ()
        return any(self._suspicious(new, ref) for ref in new.owners if ref not in known)

    def _suspicious(self, dependent: GraphNode, ref: OwnerReference) -> bool:
        owner = self._nodes.get(ref.uid)
        return owner is None or owner.waiting or not self._matches(dependent, ref)

    def _matches(self, dependent: GraphNode, ref: OwnerReference) -> bool:
        """Whether a reference leads to the object that has its uid."""
        owner = self._nodes.get(ref.uid)
        if owner is None:
            return False
        group = ref.api_version.rpartition("/")[0]
        namespace = dependent.key.namespace if owner.resource.namespaced else ""
        return (ref.kind, group, ref.name, namespace) == (
            owner.resource.kind,
            owner.resource.group,
            *owner.key,
        )

    def _waiting(self, refs: Iterable[OwnerReference]) -> Iterator[str]:
        """The owners that wait for their dependents."""
        for ref in refs:
            owner = self._nodes.get(ref.uid)
            if owner is not None and owner.waiting:
                yield ref.uid

    def _connect(
        self, uid: str, before: Iterable[OwnerReference], after: Iterable[OwnerReference]
    ) -> None:
        for ref in before:
            if (held := self._dependents.get(ref.uid)) is not None:
                held.pop(uid, None)
                if not held:
                    del self._dependents[ref.uid]
        for ref in after:
            self._dependents.setdefault(ref.uid, {})[uid] = None
