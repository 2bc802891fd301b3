"""What a request is about: the verb and the resource behind its method and path.

The same reading that an API server does before it asks who may do what, for tools that look at
requests from the client's side.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.client.transport import ApiRequest

_NO = ("0", "false")
"""What a query says that says no; Python's clients say True where others say true."""
APPLY_TYPES = ("application/apply-patch+yaml", "application/apply-patch+cbor")


@dataclass(frozen=True, slots=True)
class ResourcePath:
    """The resource a path names; empty strings where it names none."""

    group: str = ""
    version: str = ""
    namespace: str = ""
    plural: str = ""
    name: str = ""
    sub: str = ""


def resource_path(path: str) -> ResourcePath:
    """The resource of a path; an empty one for paths outside /api and /apis."""
    root, *rest = path.strip("/").split("/")
    if root == "api":
        group = ""
    elif root == "apis" and rest:
        group, *rest = rest
    else:
        return ResourcePath()
    version, *rest = rest or [""]
    namespace = ""
    # A namespace's own subresources are the exception: /namespaces/a/status is not a kind "status".
    if rest[:1] == ["namespaces"] and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    plural, name, sub = (*rest, "", "", "")[:3]
    return ResourcePath(group, version, namespace, plural, name, sub)


def verb_of(call: ApiRequest) -> str:
    """The verb of a call: get, list, watch, create, update, patch, apply, delete, deletecollection.

    RBAC calls an apply a patch; here they are two verbs.
    """
    if call.method == "GET":
        if call.query.get("watch", "0").lower() not in _NO:
            return "watch"
        return "get" if resource_path(call.path).name else "list"
    if call.method == "PATCH":
        return "apply" if call.headers.get("content-type", "") in APPLY_TYPES else "patch"
    if call.method == "DELETE":
        return "delete" if resource_path(call.path).name else "deletecollection"
    return {"POST": "create", "PUT": "update"}.get(call.method, call.method.lower())
