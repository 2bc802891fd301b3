"""Priority, DefaultTolerationSeconds: what admission adds to every pod."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from quintant.cluster.apiserver.admission.plugins.context import AdmissionContext
from quintant.cluster.apiserver.kinds.draft import Draft
from quintant.cluster.apiserver.meta.status import StatusError, forbidden

EVICTION_SECONDS = 300
"""How long a pod stays on a node that is lost, unless it says otherwise."""
CLASSES = "priorityclasses.scheduling.k8s.io"
_LOST = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_NO_EXECUTE = "NoExecute"
_COMPUTED = "priority admission controller computed {} from the given PriorityClass name"
_GIVEN = ("priority", "preemptionPolicy")
"""What a pod got when it was made, and an update need not repeat."""


class _Named(msgspec.Struct, frozen=True):
    name: str


class _Class(msgspec.Struct, frozen=True, rename="camel"):
    metadata: _Named
    value: int = 0
    global_default: bool = False
    preemption_policy: str = "PreemptLowerPriority"


_ORDINARY = _Class(_Named(""))
"""The class of pods that name none where no class is the default."""


def admit_priority(draft: Draft, context: AdmissionContext) -> None:
    """Give a pod the priority of its class, in place."""
    spec = draft.obj["spec"]
    if draft.live is not None:
        before = draft.live["spec"]
        for name in _GIVEN:
            if name in before and name not in spec:
                spec[name] = before[name]
        return
    found = _class(draft, context)
    _check(draft, "integer value of priority", spec.get("priority"), found.value)
    policy = found.preemption_policy
    _check(draft, "string value of PreemptionPolicy", spec.get("preemptionPolicy"), policy)
    if found.metadata.name:
        spec["priorityClassName"] = found.metadata.name
    spec |= {"priority": found.value, "preemptionPolicy": policy}


def check_priority_class(draft: Draft, context: AdmissionContext) -> None:
    """Refuse a second class that shall be the default."""
    if not draft.obj.get("globalDefault"):
        return
    own = draft.obj["metadata"].get("name", "")
    for other in _defaults(context):
        if other.metadata.name != own:
            text = "is already marked as default. Only one default can exist"
            raise _refused(draft, f"PriorityClass {other.metadata.name} {text}")


def admit_tolerations(draft: Draft, context: AdmissionContext) -> None:
    """Let a pod stay on a lost node for a while, in place."""
    spec = draft.obj["spec"]
    tolerations = list(spec.get("tolerations") or ())
    lost = {"operator": "Exists", "effect": _NO_EXECUTE, "tolerationSeconds": EVICTION_SECONDS}
    tolerations += [{"key": key, **lost} for key in _LOST if not _tolerated(key, tolerations)]
    spec["tolerations"] = tolerations


def _class(draft: Draft, context: AdmissionContext) -> _Class:
    """The class of a new pod."""
    name = draft.obj["spec"].get("priorityClassName")
    if not name:
        defaults = sorted(_defaults(context), key=lambda each: each.value)
        return defaults[0] if defaults else _ORDINARY
    found = context.get(CLASSES, name, _Class)
    if found is None:
        raise _refused(draft, f"no PriorityClass with name {name} was found")
    return found


def _defaults(context: AdmissionContext) -> list[_Class]:
    return [each for each in context.list_all(CLASSES, _Class) if each.global_default]


def _check(draft: Draft, what: str, given: object, computed: object) -> None:
    if given is not None and given != computed:
        must_not = f"the {what} ({given}) must not be provided in pod spec"
        raise _refused(draft, f"{must_not}; {_COMPUTED.format(computed)}")


def _refused(draft: Draft, why: str) -> StatusError:
    return forbidden(draft.target.kind.resource, draft.label, why)


def _tolerated(key: str, tolerations: Iterable[Mapping[str, object]]) -> bool:
    return any(
        toleration.get("key") in (None, "", key)
        and toleration.get("effect") in (None, "", _NO_EXECUTE)
        for toleration in tolerations
    )
