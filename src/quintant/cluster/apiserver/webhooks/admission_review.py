"""AdmissionReview: the document that an admission webhook is sent."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.webhooks.attributes import Attributes
from quintant.core.resource import Resource

GROUP = "admission.k8s.io"
KIND = "AdmissionReview"


def request_of(attributes: Attributes, kind: Kind, uid: str) -> JsonObject:
    """What is asked, but for the objects; `kind` is the version that the webhook sees."""
    shown, document = kind.resource, attributes.document
    if document is attributes.kind.resource:
        document = shown
    names = {"subResource": attributes.sub} if attributes.sub else {}
    asked_names = {"requestSubResource": attributes.sub} if attributes.sub else {}
    return {
        "uid": uid,
        "kind": _gvk(document),
        "resource": _gvr(shown),
        **names,
        "requestKind": _gvk(attributes.document),
        "requestResource": _gvr(attributes.kind.resource),
        **asked_names,
        **({"name": attributes.name} if attributes.name else {}),
        **({"namespace": attributes.namespace} if attributes.namespace else {}),
        "operation": attributes.operation,
        "userInfo": attributes.user.info,
        "dryRun": attributes.dry_run,
        "options": attributes.options or None,
    }


def encode_review(
    version: str, request: JsonObject, obj: JsonObject | None, old: JsonObject | None
) -> bytes:
    """The document that a webhook is sent."""
    whole = {**request, "object": obj, "oldObject": old}
    head = {"kind": KIND, "apiVersion": f"{GROUP}/{version}"}
    return msgspec.json.encode({**head, "request": whole})


def _gvk(resource: Resource) -> Mapping[str, str]:
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _gvr(resource: Resource) -> Mapping[str, str]:
    return {"group": resource.group, "version": resource.version, "resource": resource.plural}
