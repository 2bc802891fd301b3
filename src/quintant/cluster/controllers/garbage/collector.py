"""attemptToDeleteItem: owner reference GC: what has no owner left, by the server, is deleted.

    watches ──> graph ──uids──> queue ──> read the object and its owners ──> plan ──> act

The graph is a hint and may lag; nothing is deleted that the server does not say has no owner left,
and nothing but the very version that was looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.client.discovery import ServedResource, discover
from quintant.cluster.apiserver.meta.types import DeletionPropagation
from quintant.cluster.controllers.garbage.graph import FOREGROUND, ORPHAN, GraphNode, OwnerGraph
from quintant.cluster.controllers.garbage.graph_builder import GraphBuilder
from quintant.cluster.controllers.garbage.plan import (
    Action,
    DeleteObject,
    KnownDependents,
    OwnerState,
    StripOwners,
    plan,
    unblocked,
    without,
)
from quintant.cluster.controllers.served_kinds import metadata_of
from quintant.core.errors import NotFound
from quintant.core.object import Metadata, Object, OwnerReference, Request, replace
from quintant.core.resource import Resource
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile import finalizer
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result
from quintant.runtime.source.sources import SourceContext

KINDS = Request("kinds")
"""The key under which the watched resources are compared with those that are served."""
NEEDED = frozenset({"delete", "list", "watch"})
"""What must be possible with a resource before its objects can own or be owned."""
IGNORED = frozenset({"events", "events.events.k8s.io"})
"""What comes in numbers, goes by itself, and owns nothing."""
UNSEEN_SECONDS = 30.0
"""An owner that is there and is not watched, or not seen yet, is asked for again so often."""
ABSENT_LIMIT = 500
"""Owners remembered as absent: the dependents of one are many, and ask one after another."""


class GarbageCollector:
    """The garbage collector of one cluster."""

    def __init__(self) -> None:
        self._builder: GraphBuilder | None = None
        self._kinds: dict[tuple[str, str], Resource] = {}
        self._absent: dict[tuple[str, ...], None] = {}

    async def follow(self, feed: SourceContext) -> None:
        """Keep a graph for as long as the controller runs: its source of keys."""
        self._kinds, self._absent = {}, {}
        self._builder = GraphBuilder(feed.queue)
        feed.queue.add(KINDS)
        await self._builder.run()

    async def reconcile(self, request: Request, ctx: KeyContext) -> Result | None:
        """Look at one object, or at which resources there are."""
        if request == KINDS:
            await self._refresh(ctx)
            return None
        node = self._graph.get(request.name)
        return None if node is None else await self._process(node, ctx)

    async def _refresh(self, ctx: KeyContext) -> None:
        served = await discover(ctx.client.rest)
        self._kinds = {(s.resource.api_version, s.resource.kind): s.resource for s in served}
        wanted = {each.resource for each in served if _collectable(each)}
        for resource in _in_order(wanted - set(self._now.monitored)):
            self._now.start_monitor(resource, ctx.client.rest, ctx.random)
        for resource in _in_order(set(self._now.monitored) - wanted):
            crd = await ctx.client.find(Metadata[CustomResourceDefinition], resource.full_name)
            self._now.stop_monitor(resource, gone=crd is None)
        self._now.wake(self._graph.pending())

    async def _process(self, node: GraphNode, ctx: KeyContext) -> Result | None:
        obj = await _live(ctx.client, node)
        if obj is None:
            self._now.wake(self._graph.remove(node.uid))
            return None
        if obj.deleting:
            await self._finish(node, obj, ctx)
            return None
        self._warn_cross_namespace(node, obj, ctx)
        owner_states = {}
        for ref in obj.metadata.owner_references:
            owner_state = await self._owner_state(node, ref, ctx)
            if owner_state is None:
                return None
            owner_states[ref.uid] = owner_state
        action = plan(obj.metadata, owner_states, self._around(node))
        await _act(obj, action, ctx.client)
        return (
            Result(after=UNSEEN_SECONDS)
            if not action and self._graph.has_unseen_owner(node)
            else None
        )

    async def _finish(self, node: GraphNode, obj: Object, ctx: KeyContext) -> None:
        """Go on with a deletion that waits for dependents."""
        kind, meta = type(obj), obj.metadata
        if node.waiting and FOREGROUND in meta.finalizers:
            blocking = self._graph.blocking(node.uid)
            self._now.wake(each.uid for each in blocking if not each.waiting)
            if not blocking:
                await finalizer.remove_finalizer(ctx.client, kind, meta, FOREGROUND)
        elif node.orphaning and ORPHAN in meta.finalizers:
            for dependent in self._graph.dependents(node.uid):
                await _release_dependent(dependent, node.uid, ctx.client)
            await finalizer.remove_finalizer(ctx.client, kind, meta, ORPHAN)

    async def _owner_state(
        self, node: GraphNode, ref: OwnerReference, ctx: KeyContext
    ) -> OwnerState | None:
        """What a reference leads to; None if that cannot be told."""
        if self._graph.is_gone(ref.uid, node.key.namespace):
            return OwnerState.ABSENT
        resource = self._kinds.get((ref.api_version, ref.kind))
        if resource is None or (resource.namespaced and not node.key.namespace):
            return None
        namespace = node.key.namespace if resource.namespaced else ""
        owner_key = (ref.api_version, ref.kind, namespace, ref.name, ref.uid)
        if owner_key in self._absent:
            return OwnerState.ABSENT
        owner = await ctx.client.find(metadata_of(resource), ref.name, namespace, live=True)
        if owner is None or owner.metadata.uid != ref.uid:
            self._remember(owner_key)
            return OwnerState.ABSENT
        going = owner.deleting and FOREGROUND in owner.metadata.finalizers
        return OwnerState.WAITING if going else OwnerState.SOLID

    def _remember(self, owner_key: tuple[str, ...]) -> None:
        """Note where nobody is: a uid never comes back."""
        self._absent[owner_key] = None
        if len(self._absent) > ABSENT_LIMIT:
            del self._absent[next(iter(self._absent))]

    def _around(self, node: GraphNode) -> KnownDependents:
        dependents = self._graph.dependents(node.uid)
        return KnownDependents(bool(dependents), any(each.waiting for each in dependents))

    def _warn_cross_namespace(self, node: GraphNode, obj: Object, ctx: KeyContext) -> None:
        """Tell the user of owners that cannot be any: they live in another namespace."""
        for ref in self._graph.cross_namespace_refs(node):
            namespace = node.key.namespace
            owner = (
                f"[{ref.api_version}/{ref.kind}, namespace: {namespace}, name: {ref.name}, "
                f"uid: {ref.uid}]"
            )
            note = f'ownerRef {owner} does not exist in namespace "{namespace}"'
            ctx.event(obj, "OwnerRefInvalidNamespace", note, type="Warning", action="Collect")

    @property
    def _now(self) -> GraphBuilder:
        assert self._builder is not None, "a source runs before the workers do"
        return self._builder

    @property
    def _graph(self) -> OwnerGraph:
        return self._now.graph


def _in_order(resources: Iterable[Resource]) -> list[Resource]:
    """Resources in an order that is the same in every process."""
    return sorted(resources, key=lambda each: each.full_name)


def _collectable(served: ServedResource) -> bool:
    name = served.resource.full_name
    return served.preferred and served.verbs >= NEEDED and name not in IGNORED


async def _live(client: Client, node: GraphNode) -> Object | None:
    """A node's object as the server has it now; None if it is gone, whoever has its name."""
    found = await client.find(metadata_of(node.resource), *node.key, live=True)
    return found if found is not None and found.metadata.uid == node.uid else None


async def _release_dependent(dependent: GraphNode, owner: str, client: Client) -> None:
    obj = await _live(client, dependent)
    if obj is not None:
        with suppress(NotFound):
            await _owned_by(obj, without(obj.metadata, owner), client)


async def _owned_by(obj: Object, owners: tuple[OwnerReference, ...], client: Client) -> Object:
    """Give an object these owners and no others."""
    new = replace(obj, metadata=replace(obj.metadata, owner_references=owners))
    return await client.patch(new, since=obj)


async def _act(obj: Object, action: Action, client: Client) -> None:
    match action:
        case StripOwners(owners):
            await _owned_by(obj, owners, client)
        case DeleteObject(propagation, unblock):
            if unblock:
                obj = await _owned_by(obj, unblocked(obj.metadata), client)
            await client.delete(
                obj,
                foreground=propagation is DeletionPropagation.FOREGROUND,
                orphan=propagation is DeletionPropagation.ORPHAN,
                unchanged=True,
            )
