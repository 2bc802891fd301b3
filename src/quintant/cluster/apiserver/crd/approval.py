"""validateAPIApproval: a CRD in a group of Kubernetes must name its approval."""

from __future__ import annotations

from collections.abc import Iterator

from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.golang.url import BadUrl, parse_request
from quintant.cluster.apiserver.meta.conditions import StatusCondition
from quintant.cluster.apiserver.meta.field_errors import invalid, required
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.errors import Cause

ANNOTATION = "api-approved.kubernetes.io"
_PATH = f"metadata.annotations[{ANNOTATION}]"
_HEAD = f'protected groups must have approval annotation "{ANNOTATION}"'
_SEE = "see https://github.com/kubernetes/enhancements/pull/1111"
_EITHER = 'with either a URL or a reason starting with "unapproved"'
_PROTECTED = ("k8s.io", "kubernetes.io")
_CONDITION = "KubernetesAPIApprovalPolicyConformant"


def validate_approval(crd: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """A complaint about a definition in such a group whose approval is missing or unreadable."""
    if not _protected(crd):
        return
    found = _annotation(crd)
    if live is not None and _state(_annotation(live)) == _state(found):
        return
    if not found:
        yield required(_PATH, f"{_HEAD}, {_SEE}")
    elif not _state(found):
        yield invalid(_PATH, found, f"{_HEAD} {_EITHER}, {_SEE}")


def approval_condition(crd: JsonObject) -> StatusCondition | None:
    """What its status says of its approval; nothing outside of such groups."""
    if not _protected(crd):
        return None
    found = _annotation(crd)
    reason, message = {
        "approved": ("ApprovedAnnotation", f"approved in {found}"),
        "bypassed": ("UnapprovedAnnotation", f"not approved: {quoted(found)}"),
        "missing": ("MissingAnnotation", f"{_HEAD}, {_SEE}"),
        "": ("InvalidAnnotation", f"{_HEAD} {_EITHER}, {_SEE}"),
    }[_state(found)]
    return StatusCondition(_CONDITION, _state(found) == "approved", reason, message)


def _protected(crd: JsonObject) -> bool:
    group = crd["spec"].get("group") or ""
    return any(group == each or group.endswith(f".{each}") for each in _PROTECTED)


def _annotation(crd: JsonObject) -> str:
    return str((crd["metadata"].get("annotations") or {}).get(ANNOTATION) or "")


def _state(annotation: str) -> str:
    """What an annotation says; empty if it says nothing."""
    if not annotation:
        return "missing"
    if annotation.startswith("unapproved"):
        return "bypassed"
    try:
        url = parse_request(annotation)
    except BadUrl:
        return ""
    return "approved" if url.scheme and url.host else ""
