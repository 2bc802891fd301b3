"""ServiceAccount: which account a pod runs as, its pull secrets, and its token in every container.

The account has to exist. That of a new namespace is made by a controller, and so a moment later:
who needs it is let wait (`RetryAdmission`).
"""

from __future__ import annotations

from typing import Any

import msgspec

from quintant.cluster.apiserver.admission.plugins.context import AdmissionContext
from quintant.cluster.apiserver.kinds.draft import Draft
from quintant.cluster.apiserver.kinds.metadata_rules import generate_name
from quintant.cluster.apiserver.meta.status import StatusError, forbidden
from quintant.cluster.apiserver.meta.types import JsonObject

DEFAULT = "default"
VOLUME = "kube-api-access-"
MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
TOKEN_SECONDS = 3607
"""An hour, and a few seconds by which this token is told from others."""
_TABLE = "serviceaccounts"
_MODE = 0o644


class RetryAdmission(StatusError):
    """A refusal that a moment may cure."""


class _Account(msgspec.Struct, frozen=True, rename="camel"):
    automount_service_account_token: bool | None = None
    image_pull_secrets: list[dict[str, Any]] | None = None


def admit_account(draft: Draft, context: AdmissionContext) -> None:
    """Give a new pod its service account, and what comes with it, in place."""
    if draft.live is not None:
        return
    spec = draft.obj["spec"]
    name = spec.get("serviceAccountName") or spec.get("serviceAccount") or DEFAULT
    spec |= {"serviceAccountName": name, "serviceAccount": name}
    account = context.get(_TABLE, f"{draft.target.namespace}/{name}", _Account)
    if account is None:
        raise _missing(draft, name)
    if account.image_pull_secrets and not spec.get("imagePullSecrets"):
        spec["imagePullSecrets"] = account.image_pull_secrets
    if _mounts(spec, account):
        _mount(spec, context)


def _missing(draft: Draft, name: str) -> StatusError:
    key = f"{draft.target.namespace}/{name}"
    text = f'error looking up service account {key}: serviceaccount "{name}" not found'
    refusal = forbidden(draft.target.kind.resource, draft.label, text)
    if name != DEFAULT:
        return refusal
    return RetryAdmission(refusal.code, refusal.reason, refusal.message, refusal.details)


def _mounts(spec: JsonObject, account: _Account) -> bool:
    given = spec.get("automountServiceAccountToken")
    return (account.automount_service_account_token if given is None else given) is not False


def _mount(spec: JsonObject, context: AdmissionContext) -> None:
    """Mount a token into every container that has nothing in its place."""
    volumes = spec.get("volumes") or []
    known = [each["name"] for each in volumes if each.get("name", "").startswith(VOLUME)]
    name = known[0] if known else generate_name(VOLUME, context.random)
    mount = {"name": name, "readOnly": True, "mountPath": MOUNT}
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    lacking = [each for each in containers if not _mounted(each)]
    for container in lacking:
        container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]
    if lacking and not known:
        spec["volumes"] = [*volumes, {"name": name, "projected": _projection()}]


def _mounted(container: JsonObject) -> bool:
    return any(each.get("mountPath") == MOUNT for each in container.get("volumeMounts") or ())


def _projection() -> JsonObject:
    """A token, the authority to trust with it, and the name of the namespace."""
    namespace = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    certificate = {"key": "ca.crt", "path": "ca.crt"}
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [certificate]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": namespace}]}},
        ],
        "defaultMode": _MODE,
    }
