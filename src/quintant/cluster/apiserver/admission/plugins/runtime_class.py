"""RuntimeClass: the overhead, the nodes and the tolerations that pods of a class get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from quintant.cluster.apiserver.admission.plugins.context import AdmissionContext
from quintant.cluster.apiserver.admission.plugins.pod_requests import parse_quantities
from quintant.cluster.apiserver.kinds.draft import Draft
from quintant.cluster.apiserver.meta.status import StatusError, forbidden
from quintant.cluster.apiserver.meta.types import JsonObject

CLASSES = "runtimeclasses.node.k8s.io"
_MISMATCH = "Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_ALONE = "Pod Overhead set without corresponding RuntimeClass defined Overhead"
_ANY_KEY = ("", "Exists")


class _Overhead(msgspec.Struct, frozen=True, rename="camel"):
    pod_fixed: dict[str, str] | None = None


class _Scheduling(msgspec.Struct, frozen=True, rename="camel"):
    node_selector: dict[str, str] = {}
    tolerations: list[JsonObject] = []


class _Class(msgspec.Struct, frozen=True):
    overhead: _Overhead | None = None
    scheduling: _Scheduling | None = None


def admit_runtime_class(draft: Draft, context: AdmissionContext) -> None:
    """Give a new pod what its class asks for, in place."""
    found = _class(draft, context)
    if found is None:
        return
    if found.overhead is not None:
        _set_overhead(draft, found.overhead.pod_fixed)
    if found.scheduling is not None:
        _set_scheduling(draft, found.scheduling)


def check_overhead(draft: Draft, context: AdmissionContext) -> None:
    """Refuse a new pod whose overhead is not that of its class."""
    if draft.live is not None:
        return
    found, own = _class(draft, context), draft.obj["spec"].get("overhead")
    if found is None or found.overhead is None:
        if own is not None:
            raise _rejected(draft, _ALONE)
    elif not _equal(own, found.overhead.pod_fixed):
        raise _rejected(draft, _MISMATCH)


def merge_tolerations(
    first: Sequence[JsonObject], second: Sequence[JsonObject]
) -> list[JsonObject]:
    """MergeTolerations: both lists, without what another toleration of them includes."""
    every, merged = [*first, *second], list[JsonObject]()
    for index, each in enumerate(every):
        later = (other for other in every[index + 1 :] if _plain(other) != _plain(each))
        if not any(_includes(other, each) for other in (*merged, *later)):
            merged.append(each)
    return merged


def _class(draft: Draft, context: AdmissionContext) -> _Class | None:
    """The class of a new pod that names one."""
    name = draft.obj["spec"].get("runtimeClassName")
    if draft.live is not None or name is None:
        return None
    found = context.get(CLASSES, name, _Class)
    if found is None:
        raise _rejected(draft, f'RuntimeClass "{name}" not found')
    return found


def _set_overhead(draft: Draft, fixed: Mapping[str, str] | None) -> None:
    spec = draft.obj["spec"]
    if spec.get("overhead") and not _equal(spec["overhead"], fixed):
        raise _rejected(draft, _MISMATCH)
    spec.pop("overhead", None)
    if fixed is not None:
        spec["overhead"] = dict(fixed)


def _set_scheduling(draft: Draft, scheduling: _Scheduling) -> None:
    spec = draft.obj["spec"]
    selector = spec.get("nodeSelector") or {}
    for key, wanted in sorted(scheduling.node_selector.items()):
        if selector.get(key, wanted) != wanted:
            text = f"runtimeClass.scheduling.nodeSelector[{key}] = {wanted}"
            own = f"pod.spec.nodeSelector[{key}] = {selector[key]}"
            raise _refused(draft, f"conflict: {text}; {own}")
    if merged := {**selector, **scheduling.node_selector}:
        spec["nodeSelector"] = merged
    if tolerations := merge_tolerations(spec.get("tolerations") or (), scheduling.tolerations):
        spec["tolerations"] = tolerations


def _equal(one: Mapping[str, str] | None, other: Mapping[str, str] | None) -> bool:
    """Whether amounts are the same, however they are written."""
    pairs = (parse_quantities(amounts or {}) for amounts in (one, other))
    left, right = ({name: value for name, (value, _) in pair.items()} for pair in pairs)
    return left == right


def _includes(one: JsonObject, other: JsonObject) -> bool:
    """Whether a toleration accepts all that another one does."""
    one, other = _plain(one), _plain(other)
    if one == other:
        return True
    operator, key = one.get("operator", ""), one.get("key", "")
    if key != other.get("key", "") and (key, operator) != _ANY_KEY:
        return False
    if one.get("effect", "") not in ("", other.get("effect", "")):
        return False
    if one.get("effect") == "NoExecute" and "tolerationSeconds" in one:
        seconds = other.get("tolerationSeconds")
        if seconds is None or seconds > one["tolerationSeconds"]:
            return False
    if operator in ("", "Equal"):
        return other.get("operator") == "Equal" and one.get("value", "") == other.get("value", "")
    return bool(operator == "Exists")


def _plain(toleration: JsonObject) -> JsonObject:
    """A toleration without empty texts, which say nothing."""
    return {key: value for key, value in toleration.items() if value not in (None, "")}


def _rejected(draft: Draft, why: str) -> StatusError:
    return _refused(draft, f"pod rejected: {why}")


def _refused(draft: Draft, why: str) -> StatusError:
    return forbidden(draft.target.kind.resource, draft.label, why)
