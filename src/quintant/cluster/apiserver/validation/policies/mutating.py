"""ValidateMutatingAdmissionPolicy: the mutations of a policy, and what it has like every other."""

from __future__ import annotations

from collections.abc import Iterator

from quintant.cluster.apiserver.meta.field_errors import invalid, not_supported, required
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import validate_enum
from quintant.cluster.apiserver.validation.policies.expressions import (
    PolicyCompiler,
    expression_causes,
)
from quintant.cluster.apiserver.validation.policies.match_resources import (
    mutating_operation_causes,
)
from quintant.cluster.apiserver.validation.policies.validating import (
    has_params,
    match_condition_causes,
    policy_causes,
    variable_causes,
)
from quintant.core.errors import Cause

APPLY_CONFIGURATION, JSON_PATCH = "ApplyConfiguration", "JSONPatch"
EXPRESSION_FIELDS = {APPLY_CONFIGURATION: "applyConfiguration", JSON_PATCH: "jsonPatch"}
"""Where the expression of a mutation is, by the type of its patch."""
RETURN_TYPES = {APPLY_CONFIGURATION: "Object", JSON_PATCH: "list(JSONPatch)"}
_REINVOCATION_POLICIES = ("IfNeeded", "Never")


def validate_mutating_policy(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a policy."""
    spec = obj.get("spec") or {}
    compiler = PolicyCompiler(params=has_params(spec))
    yield from policy_causes(spec)
    constraints = spec.get("matchConstraints") or {}
    yield from mutating_operation_causes(constraints, "spec.matchConstraints")
    yield from match_condition_causes(spec)
    yield from variable_causes(compiler, spec.get("variables") or ())
    mutations = spec.get("mutations") or ()
    if not mutations:
        yield required("spec.mutations", "mutations must contain at least one item")
    for at, mutation in enumerate(mutations):
        yield from _mutation_causes(compiler, mutation, f"spec.mutations[{at}]")
    yield from _reinvocation_causes(spec.get("reinvocationPolicy") or "")


def _mutation_causes(compiler: PolicyCompiler, mutation: JsonObject, path: str) -> Iterator[Cause]:
    patch_type = mutation.get("patchType") or ""
    if not patch_type:
        yield required(f"{path}.patchType")
        return
    if patch_type not in EXPRESSION_FIELDS:
        yield not_supported(f"{path}.patchType", patch_type, sorted(EXPRESSION_FIELDS))
        return
    own = EXPRESSION_FIELDS[patch_type]
    if mutation.get(own) is None:
        yield required(f"{path}.{own}", f"must be specified when patchType is {patch_type}")
    else:
        expression = (mutation[own].get("expression") or "").strip()
        yield from _expression_causes(compiler, expression, patch_type, f"{path}.{own}.expression")
    for other in EXPRESSION_FIELDS.values():
        if other != own and mutation.get(other) is not None:
            text = f"must not be specified when patchType is {patch_type}"
            yield invalid(f"{path}.{other}", f"{{{other}}}", text)


def _expression_causes(
    compiler: PolicyCompiler, expression: str, patch_type: str, path: str
) -> Iterator[Cause]:
    if not expression:
        yield required(path)
        return
    returns = RETURN_TYPES[patch_type]
    yield from expression_causes(compiler, expression, path, returns, patch_types=True)


def _reinvocation_causes(reinvocation_policy: str) -> Iterator[Cause]:
    path = "spec.reinvocationPolicy"
    if not reinvocation_policy:
        yield required(path)
    else:
        yield from validate_enum(path, reinvocation_policy, _REINVOCATION_POLICIES)
