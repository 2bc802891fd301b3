"""NamespaceLifecycle: nothing is created in a namespace that is absent or terminating.

The first plugin that sees a write. A deleted namespace stays until its finalizers are gone; what
empties it and takes the server's own finalizer away is a controller
(quintant.cluster.controllers.namespaces.deletion).
"""

from __future__ import annotations

import msgspec

from quintant.cluster.apiserver.admission.plugins.context import AdmissionContext
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.meta.status import forbidden, not_found
from quintant.core.errors import Cause
from quintant.core.resource import Resource

NAMESPACE = Resource("", "v1", "Namespace", "namespaces", namespaced=False, status=True)
PROTECTED = frozenset({"default", "kube-system", "kube-public"})
"""Namespaces that cannot be deleted."""


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    deletion_timestamp: str = ""


class _Namespace(msgspec.Struct, frozen=True):
    metadata: _Metadata


def admit_namespace(draft: Draft, context: AdmissionContext) -> None:
    """Refuse a new object whose namespace is absent (404) or terminating (403)."""
    if draft.base is None:
        check_namespace(draft.target.with_name(draft.label), context)


def check_namespace(target: ObjectRef, context: AdmissionContext) -> None:
    """404 if the namespace of a new object is absent, 403 while it is being deleted."""
    if not target.kind.resource.namespaced:
        return
    namespace = context.get(NAMESPACE.plural, target.namespace, _Namespace)
    if namespace is None:
        raise not_found(NAMESPACE, target.namespace)
    if namespace.metadata.deletion_timestamp:
        cause = Cause(
            "NamespaceTerminating",
            f"namespace {target.namespace} is being terminated",
            "metadata.namespace",
        )
        raise forbidden(
            target.kind.resource,
            target.name,
            f"unable to create new content in namespace {target.namespace} because it is being "
            "terminated",
            cause,
        )


def check_namespace_delete(target: ObjectRef) -> None:
    """403 for the namespaces that a cluster needs."""
    if target.kind.table == NAMESPACE.plural and target.name in PROTECTED:
        raise forbidden(target.kind.resource, target.name, "this namespace may not be deleted")
