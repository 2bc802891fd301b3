"""ValidateValidatingAdmissionPolicyBinding: what puts a policy into force, of either kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quintant.cluster.apiserver.meta.field_errors import (
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors, path_segment_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.label_selectors import selector_causes
from quintant.cluster.apiserver.validation.policies.match_resources import (
    match_resources_causes,
    mutating_operation_causes,
)
from quintant.core.errors import Cause

DENY, WARN, AUDIT = "Deny", "Warn", "Audit"
ALLOW = "Allow"
_ACTIONS = (AUDIT, DENY, WARN)
_EITHER = "name and selector are mutually exclusive"
_TWICE = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the "
    "API response and headers serves no purpose)"
)


def validate_validating_binding(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a binding of a validating policy."""
    spec = obj.get("spec") or {}
    yield from binding_causes(spec)
    yield from _action_causes(spec.get("validationActions") or [], "spec.validationActions")


def validate_mutating_binding(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a binding of a mutating policy."""
    spec = obj.get("spec") or {}
    yield from binding_causes(spec)
    yield from mutating_operation_causes(spec.get("matchResources") or {}, "spec.matchResources")


def binding_causes(spec: JsonObject) -> Iterator[Cause]:
    """What is wrong with what every binding says: a policy, parameters, resources."""
    name = spec.get("policyName") or ""
    if not name:
        yield required("spec.policyName")
    else:
        yield from invalid_each("spec.policyName", name, dns1123_subdomain_errors(name))
    if (ref := spec.get("paramRef")) is not None:
        yield from _param_ref_causes(ref, "spec.paramRef")
    if (resources := spec.get("matchResources")) is not None:
        yield from match_resources_causes(resources, "spec.matchResources")


def _param_ref_causes(ref: JsonObject, path: str) -> Iterator[Cause]:
    name, selector = ref.get("name") or "", ref.get("selector")
    if name:
        yield from invalid_each(f"{path}.name", name, path_segment_errors(name))
        if selector is not None:
            yield forbidden(f"{path}.name", _EITHER)
    if selector is not None:
        yield from selector_causes(f"{path}.selector", selector)
        if name:
            yield forbidden(f"{path}.selector", _EITHER)
    if not name and selector is None:
        yield required(path, "one of name or selector must be specified")
    action = ref.get("parameterNotFoundAction")
    if not action:
        yield required(f"{path}.parameterNotFoundAction")
    elif action not in (DENY, ALLOW):
        yield not_supported(f"{path}.parameterNotFoundAction", action, (DENY, ALLOW))


def _action_causes(actions: Sequence[str], path: str) -> Iterator[Cause]:
    known: set[str] = set()
    for at, action in enumerate(actions):
        if action not in _ACTIONS:
            yield not_supported(f"{path}[{at}]", action, _ACTIONS)
        if action in known:
            yield duplicate(f"{path}[{at}]", action)
        known.add(action)
    if {DENY, WARN} <= known:
        yield invalid(path, actions, _TWICE)
    if not known:
        yield required(path, "at least one validation action is required")
