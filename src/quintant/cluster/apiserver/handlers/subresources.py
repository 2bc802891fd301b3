"""BindingREST, FinalizeREST: the subresources of a kind, and those that do one thing.

What such an action does is a change of the parent, made by the write path like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from quintant.cluster.apiserver.codec.type_meta import check_sent
from quintant.cluster.apiserver.handlers.pod_logs import LOG
from quintant.cluster.apiserver.handlers.pod_streams import DOCUMENTS
from quintant.cluster.apiserver.handlers.scale import SCALE
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.metadata_rules import set_namespace, with_type_meta
from quintant.cluster.apiserver.meta.conditions import StatusCondition
from quintant.cluster.apiserver.meta.field_errors import (
    aggregate,
    invalid_each,
    invalid_object,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.names import qualified_name_errors
from quintant.cluster.apiserver.meta.objectmeta import validate_finalizer_name
from quintant.cluster.apiserver.meta.request_info import OTHER_VERB, PROXIED, PROXY
from quintant.cluster.apiserver.meta.status import bad_request, conflict, unknown_error
from quintant.cluster.apiserver.meta.types import Edit, JsonObject
from quintant.core.errors import Cause
from quintant.core.resource import Resource

STATUS = "status"
TOKEN = "token"
EVICTION = "eviction"
APPROVAL = "approval"
EPHEMERAL_CONTAINERS = "ephemeralcontainers"
_VERBS = frozenset({"get", "update", "patch"})
_BINDING = Resource("", "v1", "Binding", "pods/binding")
EVICTIONS = Resource("policy", "v1", "Eviction", "pods/eviction")
_NAMESPACE = Resource("", "v1", "Namespace", "namespaces")
_SCHEDULED = StatusCondition("PodScheduled", True)
_CREATE_ONLY = frozenset({("serviceaccounts", TOKEN)})
_STREAMED = frozenset({("pods", LOG)})
_CONNECTED = frozenset(("pods", each) for each in DOCUMENTS)
"""Those after whose answer a connection speaks another protocol."""
_PROXIED = frozenset((each, PROXY) for each in PROXIED)
"""Those below which requests are another server's."""
_PROXY_VERBS = frozenset({"create", "delete", "get", "patch", "update", OTHER_VERB})
_EVICTED = frozenset({("pods", EVICTION)})
_WRITTEN_APART = frozenset(
    {("certificatesigningrequests", APPROVAL), ("pods", EPHEMERAL_CONTAINERS)}
)
"""Parts of an object that are written through a path of their own, like its status."""


class SubresourceAction(Struct, frozen=True):
    """What a subresource does: the verb that does it, and the change it makes."""

    verb: str
    document: Resource
    """What is sent to do it."""
    edit: Callable[[ObjectRef, Any, str], Edit]
    """From the parent, what was sent and the time to the change."""
    answers_object: bool = True


def verbs_of(kind: Kind, sub: str) -> frozenset[str]:
    """What can be done with a subresource; nothing if the kind has none of that name."""
    if kind.computed:
        return frozenset()
    found = action(kind, sub)
    if found is not None:
        return frozenset({found.verb})
    if is_create_only(kind, sub) or is_eviction(kind, sub):
        return frozenset({"create"})
    if is_log_stream(kind, sub):
        return frozenset({"get"})
    if is_connect(kind, sub):
        return frozenset({"create", "get"})
    if is_proxy(kind, sub):
        return _PROXY_VERBS
    apart = not kind.custom and (kind.name, sub) in _WRITTEN_APART
    there = {STATUS: kind.resource.status, SCALE: kind.scale is not None}
    return _VERBS if apart or there.get(sub) else frozenset()


def names_of(kind: Kind) -> list[str]:
    """The subresources of a kind."""
    others = (
        *_ACTIONS, *_CREATE_ONLY, *_STREAMED, *_CONNECTED, *_PROXIED, *_EVICTED, *_WRITTEN_APART
    )  # fmt: skip
    known = [STATUS, SCALE, *(sub for name, sub in others if name == kind.name)]
    return [sub for sub in known if verbs_of(kind, sub)]


def is_create_only(kind: Kind, sub: str) -> bool:
    """Whether a subresource only asks something: nothing is stored."""
    return bool(sub) and not kind.custom and (kind.name, sub) in _CREATE_ONLY


def is_eviction(kind: Kind, sub: str) -> bool:
    """Whether a subresource deletes its parent if nothing speaks against it."""
    return bool(sub) and not kind.custom and (kind.name, sub) in _EVICTED


def is_log_stream(kind: Kind, sub: str) -> bool:
    """Whether a subresource is read as a stream that belongs to no document."""
    return bool(sub) and not kind.custom and (kind.name, sub) in _STREAMED


def is_connect(kind: Kind, sub: str) -> bool:
    """Whether a subresource is a connection with a container."""
    return bool(sub) and not kind.custom and (kind.name, sub) in _CONNECTED


def is_proxy(kind: Kind, sub: str) -> bool:
    """Whether a path is that of another server, reached through this one."""
    return bool(sub) and not kind.custom and (kind.name, sub.partition("/")[0]) in _PROXIED


def action(kind: Kind, sub: str) -> SubresourceAction | None:
    """The action of a kind's subresource, if it is one."""
    return _ACTIONS.get((kind.name, sub)) if sub and not kind.custom else None


def _bind(target: ObjectRef, sent: Any, now: str) -> Edit:
    """Assign a pod to a node."""
    metadata, reference = _part(sent, "metadata"), _part(sent, "target")
    if metadata.get("name") != target.name:
        raise bad_request("name in URL does not match name in Binding object")
    kind, node = reference.get("kind") or "Node", reference.get("name")
    causes = [] if kind == "Node" else [not_supported("target.kind", kind, ["Node", "<empty>"])]
    causes += [] if node else [required("target.name")]
    if causes:
        raise unknown_error(aggregate(causes))

    def bound(pod: JsonObject) -> JsonObject:
        if pod["spec"].get("nodeName"):
            text = f'pod {target.name} is already assigned to node "{pod["spec"]["nodeName"]}"'
            raise conflict(_BINDING, target.name, text)
        pod["spec"]["nodeName"] = node
        pod["status"] = _SCHEDULED.set(pod.get("status") or {}, now)
        annotations = _part(pod["metadata"], "annotations") | _part(metadata, "annotations")
        pod["metadata"] |= {"annotations": annotations} if annotations else {}
        return pod

    return bound


def _finalize(target: ObjectRef, sent: Any, now: str) -> Edit:
    """Set what holds a namespace."""
    check_sent(target.kind, sent)
    set_namespace(target.kind, with_type_meta(target.kind, sent), target.namespace, target.name)
    left = _part(sent, "spec").get("finalizers")
    causes = [cause for at, each in enumerate(left or ()) for cause in _odd(at, each)]
    if causes:
        raise invalid_object(_NAMESPACE, target.name, *causes)

    def finalized(namespace: JsonObject) -> JsonObject:
        namespace["spec"] = {"finalizers": left} if left else {}
        return namespace

    return finalized


def _odd(at: int, finalizer: str) -> Iterator[Cause]:
    """What is wrong with what holds a namespace."""
    path = f"spec.finalizers[{at}]"
    yield from invalid_each(path, finalizer, qualified_name_errors(finalizer))
    yield from validate_finalizer_name(path, finalizer)


def _part(document: Any, name: str) -> JsonObject:
    return dict(document.get(name) or {}) if isinstance(document, dict) else {}


_ACTIONS = {
    ("pods", "binding"): SubresourceAction("create", _BINDING, _bind, answers_object=False),
    ("namespaces", "finalize"): SubresourceAction("update", _NAMESPACE, _finalize),
}
