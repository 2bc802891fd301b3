"""NewAttributesRecord: a write, a deletion or a document, as the webhooks are told of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.handlers.delete_options import DeleteOptions
from quintant.cluster.apiserver.handlers.scale import DOCUMENT, SCALE, view_scale
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.webhooks.attributes import (
    CONNECT,
    CREATE,
    DELETE,
    UPDATE,
    Attributes,
)
from quintant.core.resource import Resource

_OPTIONS = {CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions"}


def draft_attributes(draft: Draft, options: WriteOptions) -> Attributes:
    """A write; of the subresource scale, with the Scale that a client sees."""
    target, operation = draft.target, CREATE if draft.base is None else UPDATE
    obj, old, document = draft.obj, draft.live, target.kind.resource
    if target.subresource == SCALE:
        document, obj = DOCUMENT, view_scale(target.kind, obj)
        old = None if old is None else view_scale(target.kind, old)
    target = replace(target, name=target.name or draft.obj["metadata"].get("name", ""))
    return Attributes(
        operation,
        target.kind,
        document,
        _namespace(target),
        target.name,
        target.subresource,
        options.user,
        obj,
        old,
        _options(operation, options.raw),
        options.dry_run,
    )


def delete_attributes(
    target: ObjectRef, old: JsonObject, options: DeleteOptions, named: bool
) -> Attributes:
    """A deletion; `named` if the request was about this object alone."""
    return Attributes(
        DELETE,
        target.kind,
        target.kind.resource,
        _namespace(target),
        target.name if named else "",
        "",
        options.user,
        old=old,
        options=_options(DELETE, options.raw),
        dry_run=options.dry_run,
    )


def document_attributes(
    target: ObjectRef,
    document: Resource,
    sent: JsonObject,
    old: JsonObject | None,
    options: WriteOptions,
) -> Attributes:
    """A document that does something to a target, such as a Binding."""
    operation = CREATE if old is None else UPDATE
    return Attributes(
        operation,
        target.kind,
        document,
        _namespace(target),
        target.name,
        target.subresource,
        options.user,
        _whole(target, document, sent),
        old,
        _options(operation, options.raw),
        options.dry_run,
    )


def connect_attributes(
    target: ObjectRef, document: Resource, options: JsonObject, user: User
) -> Attributes:
    """A connection with a container; what it is asked with is the object."""
    type_meta = {"kind": document.kind, "apiVersion": document.api_version}
    return Attributes(
        CONNECT,
        target.kind,
        document,
        target.namespace,
        target.name,
        target.subresource,
        user,
        {**type_meta, **options},
    )


def _whole(target: ObjectRef, document: Resource, sent: JsonObject) -> JsonObject:
    """A document with the name and namespace of its target."""
    names = {"name": target.name, "namespace": target.namespace}
    given = {key: value for key, value in names.items() if value}
    metadata = {**given, **(sent.get("metadata") or {})}
    metadata.pop("managedFields", None)
    type_meta = {"kind": document.kind, "apiVersion": document.api_version}
    return {**sent, **type_meta, "metadata": metadata}


def _namespace(target: ObjectRef) -> str:
    """The namespace of a change; a namespace itself lies in itself."""
    resource = target.kind.resource
    own = resource.plural == "namespaces" and not resource.group
    return target.name if own else target.namespace


def _options(operation: str, document: Mapping[str, Any]) -> JsonObject:
    return {"kind": _OPTIONS[operation], "apiVersion": "meta.k8s.io/v1", **document}
