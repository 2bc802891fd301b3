"""namespacedResourcesDeleter: namespace termination: emptied, pods first, then finalized.

Every deletable resource is deleted as a collection and listed again. What remains (pods that take
their time, whatever has finalizers) is named in the namespace's conditions, and looked at again.
`count_remaining` and `conditions` are pure; their texts are those of a real cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct, field

from quintant.api.core import Namespace
from quintant.api.meta import Condition, set_condition
from quintant.api.node import NamespaceStatus
from quintant.client.discovery import ServedResource, discover
from quintant.cluster.apiserver.registry.prepare import NAMESPACE_FINALIZER
from quintant.cluster.controllers.pods.views import PodState
from quintant.cluster.controllers.served_kinds import AllKinds, metadata_of
from quintant.core import codec
from quintant.core.clock import parse_timestamp
from quintant.core.errors import ApiError
from quintant.core.object import Object, Request
from quintant.core.resource import Resource, resource_of
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result

NAME = "namespace-controller"
TERMINATING = "Terminating"
SOONEST_SECONDS, LATEST_SECONDS = 0.25, 8.0
"""A namespace that is not empty yet is looked at again after a part of the time it has been going,
within these: most are emptied at once, and some never."""
PATIENCE = 0.25
"""That part."""
_BACKGROUND = {"propagationPolicy": "Background"}
_BODY = {"content-type": "application/json"}
_PODS = "pods"
_FINE = {
    "NamespaceDeletionDiscoveryFailure": (
        "ResourcesDiscovered",
        "All resources successfully discovered",
    ),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": (
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
}


class RemainingContent(Struct, frozen=True):
    """What is left of a namespace's content."""

    counts: Mapping[str, int] = field(default_factory=dict)
    """Objects by resource, as `plural.group`."""
    finalizers: Mapping[str, int] = field(default_factory=dict)
    failures: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.counts and not self.failures


def declare(manager: Manager) -> None:
    """Add the namespace controller to a manager."""
    (
        manager.keyed(NAME)
        .watches(Namespace, to=lambda namespace: [namespace.key] if namespace.deleting else [])
        .watches(PodState, to=_namespace_of_deleted_pod)
        .uses(Namespace, "patch", sub="status")
        .uses(Namespace, "update", sub="finalize")
        .uses(AllKinds, "list", "delete", "deletecollection")
        .reconcile(reconcile)
    )


async def reconcile(request: Request, ctx: KeyContext) -> Result | None:
    """Empty a namespace that is being deleted, and let it go when it is empty."""
    namespace = await ctx.client.find(Namespace, request.name)
    if namespace is None or NAMESPACE_FINALIZER not in namespace.spec.finalizers:
        return None
    since = namespace.metadata.deletion_timestamp
    if since is None:
        return None
    left, findings = await _empty(request.name, ctx.client)
    now = ctx.clock.now()
    status = NamespaceStatus(
        phase=TERMINATING, conditions=conditions(namespace.status.conditions, findings, now)
    )
    await ctx.client.set_status(namespace, status)
    if not left.empty:
        return Result(after=retry_seconds((now - parse_timestamp(since)).total_seconds()))
    await _finalize(namespace, ctx.client)
    return None


def retry_seconds(age: float) -> float:
    """In how many seconds to look again at a namespace that has been going for so many."""
    return min(max(age * PATIENCE, SOONEST_SECONDS), LATEST_SECONDS)


def count_remaining(
    remaining: Mapping[Resource, Iterable[Object]], failures: Iterable[str] = ()
) -> RemainingContent:
    """What is left, counted."""
    listed = {resource: list(objects) for resource, objects in remaining.items()}
    held = Counter(
        name for objects in listed.values() for obj in objects for name in obj.metadata.finalizers
    )
    counts = {
        f"{resource.plural}.{resource.group}": len(objects)
        for resource, objects in listed.items()
        if objects
    }
    return RemainingContent(counts, held, tuple(sorted(failures)))


def conditions(
    before: tuple[Condition, ...], left: RemainingContent, now: datetime
) -> tuple[Condition, ...]:
    """The conditions of a namespace that is being deleted."""
    bad = dict(_problems(left))
    for kind, fine in _FINE.items():
        reason, message = bad.get(kind, fine)
        before = set_condition(
            before, kind, status=kind in bad, reason=reason, message=message, now=now
        )
    return before


def _problems(left: RemainingContent) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each condition that something is wrong with, its reason and its message."""
    if left.failures:
        text = f"{len(left.failures)} remaining: {', '.join(left.failures)}"
        message = f"Failed to delete all resource types, {text}"
        yield "NamespaceDeletionContentFailure", ("ContentDeletionFailed", message)
    if left.counts:
        message = _joined("{} has {} resource instances", left.counts)
        message = f"Some resources are remaining: {message}"
        yield "NamespaceContentRemaining", ("SomeResourcesRemain", message)
    if left.finalizers:
        message = _joined("{} in {} resource instances", left.finalizers)
        message = f"Some content in the namespace has finalizers remaining: {message}"
        yield "NamespaceFinalizersRemaining", ("SomeFinalizersRemain", message)


def _joined(form: str, counts: Mapping[str, int]) -> str:
    return ", ".join(sorted(form.format(name, count) for name, count in counts.items()))


def _namespace_of_deleted_pod(pod: PodState) -> Iterable[Request]:
    """The namespace that a deleted pod leaves: there, it may have been waited for."""
    return [Request(pod.metadata.namespace)] if pod.deleting else []


async def _empty(namespace: str, client: Client) -> tuple[RemainingContent, RemainingContent]:
    """Delete what is in a namespace: what is left, and what is to be told of it.

    As long as there are pods, everything they may need stays. A real cluster says nothing of them.
    """
    resources = [each for each in await discover(client.rest) if _deletable(each)]
    first = [each for each in resources if each.resource.full_name == _PODS]
    left = await _delete(namespace, first, client)
    if not left.empty:
        return left, RemainingContent(failures=left.failures)
    left = await _delete(namespace, [each for each in resources if each not in first], client)
    return left, left


async def _delete(
    namespace: str, resources: Iterable[ServedResource], client: Client
) -> RemainingContent:
    found: dict[Resource, Iterable[Object]] = {}
    failures: list[str] = []
    for each in resources:
        try:
            found[each.resource] = await _delete_all(namespace, each, client)
        except ApiError as error:
            failures.append(error.message)
    return count_remaining(found, failures)


async def _delete_all(namespace: str, served: ServedResource, client: Client) -> Iterable[Object]:
    """What is left of a resource after everything was deleted."""
    kind = metadata_of(served.resource)
    there = await client.list(kind, namespace, live=True)
    if not there:
        return ()
    if "deletecollection" in served.verbs:
        body = codec.encode(_BACKGROUND)
        await client.raw("DELETE", served.resource.path(namespace), body=body, headers=_BODY)
    else:
        for obj in there:
            await client.delete(obj)
    return await client.list(kind, namespace, live=True)


async def _finalize(namespace: Namespace, client: Client) -> None:
    """Take our finalizer off, which has a request of its own: the object is sent whole."""
    path = resource_of(Namespace).path(name=namespace.metadata.name)
    whole: dict[str, Any] = msgspec.json.decode(await client.raw("GET", path))
    spec = whole.setdefault("spec", {})
    left = [name for name in spec.get("finalizers", ()) if name != NAMESPACE_FINALIZER]
    spec["finalizers"] = left
    await client.raw("PUT", f"{path}/finalize", body=codec.encode(whole), headers=_BODY)


def _deletable(served: ServedResource) -> bool:
    return served.preferred and served.resource.namespaced and "delete" in served.verbs
