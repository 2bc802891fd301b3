"""RequestScope: the kind that a path is about, or the right refusal."""

from __future__ import annotations

from msgspec.structs import replace

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.handlers.subresources import verbs_of
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import (
    PageNotFound,
    StatusError,
    method_not_supported,
    not_found,
    resource_not_found,
    service_unavailable,
)

# Requests on a collection; the others are about one object and need its namespace.
_COLLECTION = frozenset({"list", "watch"})
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
# Kinds that cannot be deleted as a collection.
_ONE_BY_ONE = frozenset({"namespaces"})


def resource_verbs(kind: Kind) -> tuple[str, ...]:
    """What can be done with objects of a kind."""
    if kind.create_only:
        return ("create",)
    if kind.computed:
        return ("get", "list")
    if kind.custom:
        return CUSTOM_VERBS
    alone = kind.name in _ONE_BY_ONE
    return tuple(verb for verb in VERBS if not (alone and verb == "deletecollection"))


def kind_of(catalog: Catalog, request_info: RequestInfo) -> Kind:
    """The kind a request is about; the right kind of 404 if there is none."""
    kind = catalog.find(request_info.group, request_info.version, request_info.resource)
    if kind is None:
        known = catalog.version(request_info.group, request_info.version)
        builtin = not request_info.group or any(not each.custom for each in known)
        raise resource_not_found() if builtin else PageNotFound()
    resource = kind.resource
    lacking = (
        resource.namespaced and not request_info.namespace and request_info.verb not in _COLLECTION
    )
    misplaced = (
        not resource.namespaced and request_info.namespace and resource.plural != "namespaces"
    )
    if lacking or misplaced:
        nowhere = misplaced or request_info.name or kind.create_only
        refusal = resource_not_found() if nowhere else method_not_supported()
        raise PageNotFound() if kind.custom else refusal
    _check_sub(kind, request_info)
    return kind


def authorization_attributes(call: ApiRequest, request_info: RequestInfo) -> RequestInfo:
    """What authorisation looks at: a list of one named object is about that object.

    The name in a path comes before one in a selector, here and where objects are selected.
    """
    if (
        request_info.verb not in _COLLECTION
        or request_info.name
        or "fieldSelector" not in call.query
    ):
        return request_info
    for term in call.query["fieldSelector"].split(","):
        field, _, value = term.partition("=")
        if field == "metadata.name":
            return replace(request_info, name=value.lstrip("="))
    return request_info


def wants_websocket(call: ApiRequest) -> bool:
    """Whether a request wants to go on as a WebSocket."""
    return call.headers.get("upgrade", "").lower() == "websocket"


def refuse_websocket(call: ApiRequest, request_info: RequestInfo) -> None:
    """503 for a watch over WebSockets: clients that begin so go on with HTTP then.

    An answer over HTTP at once, as if nothing had been said of WebSockets, they read to its end,
    which a watch does not have.
    """
    if request_info.verb == "watch" and wants_websocket(call):
        raise service_unavailable("watches are not served over WebSockets by this cluster")


def _check_sub(kind: Kind, request_info: RequestInfo) -> None:
    if not request_info.subresource:
        return
    verbs = verbs_of(kind, request_info.subresource)
    if not verbs:
        raise _lacking(kind, request_info)
    if request_info.verb not in verbs:
        raise method_not_supported()


def _lacking(kind: Kind, request_info: RequestInfo) -> StatusError:
    if kind.custom:
        return not_found(kind.resource, request_info.name)
    return resource_not_found()


def check_method(call: ApiRequest) -> None:
    """405 for a request that wants the headers of an answer alone."""
    if call.method == "HEAD":
        raise method_not_supported()


def check_watch_method(call: ApiRequest) -> None:
    """405 for anything but reading through the path of a watch."""
    if call.method != "GET":
        raise method_not_supported()


def target_of(route: RequestInfo, kind: Kind) -> ObjectRef:
    """The object, or the collection, that a request is about."""
    namespace = route.namespace if kind.resource.namespaced else ""
    return ObjectRef(kind, namespace, route.name, route.subresource)
