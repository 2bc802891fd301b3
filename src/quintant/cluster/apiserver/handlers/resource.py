"""What a request is about: the kind of a path, or the right refusal."""

from __future__ import annotations

from msgspec.structs import replace

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.handlers.subresources import verbs_of
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import (
    PageNotFound,
    StatusError,
    method_not_supported,
    not_found,
    resource_not_found,
    service_unavailable,
    streams_not_supported,
)

# Requests on a collection; the others are about one object and need its namespace.
_COLLECTION = frozenset({"list", "watch"})
# Streams that a real server has with a kubelet. Told only that nothing is found, people look for
# a mistake of their own.
_CONNECTIONS = frozenset({"exec", "attach", "portforward", "proxy"})
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


def kind_of(catalog: Catalog, asked: RequestInfo) -> Kind:
    """The kind a request is about; the right kind of 404 if there is none."""
    kind = catalog.find(asked.group, asked.version, asked.resource)
    if kind is None:
        known = catalog.version(asked.group, asked.version)
        builtin = not asked.group or any(not each.custom for each in known)
        raise resource_not_found() if builtin else PageNotFound()
    where = kind.resource
    lacking = where.namespaced and not asked.namespace and asked.verb not in _COLLECTION
    misplaced = not where.namespaced and asked.namespace and where.plural != "namespaces"
    if lacking or misplaced:
        nowhere = misplaced or asked.name or kind.create_only
        refusal = resource_not_found() if nowhere else method_not_supported()
        raise PageNotFound() if kind.custom else refusal
    _check_sub(kind, asked)
    return kind


def authorization_attributes(call: ApiRequest, asked: RequestInfo) -> RequestInfo:
    """What authorisation looks at: a list of one named object is about that object.

    The name in a path comes before one in a selector, here and where objects are selected.
    """
    if asked.verb not in _COLLECTION or asked.name or "fieldSelector" not in call.query:
        return asked
    for term in call.query["fieldSelector"].split(","):
        field, _, value = term.partition("=")
        if field == "metadata.name":
            return replace(asked, name=value.lstrip("="))
    return asked


def refuse_websocket(call: ApiRequest, asked: RequestInfo) -> None:
    """503 for a watch over WebSockets: clients that begin so go on with HTTP then.

    An answer over HTTP at once, as if nothing had been said of WebSockets, they read to its end,
    which a watch does not have.
    """
    if asked.verb == "watch" and call.headers.get("upgrade", "").lower() == "websocket":
        raise service_unavailable("watches are not served over WebSockets by this cluster")


def _check_sub(kind: Kind, asked: RequestInfo) -> None:
    verbs = verbs_of(kind, asked.subresource)
    if asked.subresource and not verbs:
        raise _lacking(kind, asked)
    if asked.subresource and asked.verb not in verbs:
        raise method_not_supported()


def _lacking(kind: Kind, asked: RequestInfo) -> StatusError:
    if kind.custom:
        return not_found(kind.resource, asked.name)
    if asked.subresource in _CONNECTIONS:
        return streams_not_supported(f"{kind.name}/{asked.subresource}")
    return resource_not_found()
