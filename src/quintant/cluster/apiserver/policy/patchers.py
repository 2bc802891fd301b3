"""applyConfigPatcher, jsonPatcher: what a mutation of a policy makes of an object.

    expression ─► Object{…}          ─► merged into the object by the schema of its kind
               └► [JSONPatch{…}, …]  ─► applied to it, or not at all if a test fails

An object is given and another returned. What cannot be applied is a MutationError, in the words of
a real server. CEL is loaded with the first expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quintant.cluster.apiserver.golang.json import copy_json
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.patch.json_patch import (
    InapplicableOperation,
    apply_operations,
    inapplicable,
)
from quintant.cluster.apiserver.policy.evaluation import (
    BUDGET,
    PolicyExpressions,
    compile_conditions,
    compile_expression,
    compile_variables,
    run_expressions,
)
from quintant.cluster.apiserver.structuredmerge.schema import ListType, MergeSchema, TypingError
from quintant.cluster.apiserver.structuredmerge.typed import field_set_of, merge
from quintant.cluster.apiserver.validation.policies.expressions import PolicyCompiler
from quintant.cluster.apiserver.validation.policies.mutating import (
    APPLY_CONFIGURATION,
    EXPRESSION_FIELDS,
    RETURN_TYPES,
)
from quintant.cluster.apiserver.validation.policies.validating import has_params
from quintant.cluster.apiserver.webhooks.activation import Budget, Expression, OutOfBudget

IF_NEEDED = "IfNeeded"
_TYPE_META = ("apiVersion", "kind")


class MutationError(Exception):
    """A mutation cannot be made; the text says why."""


class CompiledMutation(msgspec.Struct, frozen=True):
    """One mutation of a policy."""

    expression: Expression
    applies: bool
    """Whether it is a configuration to be applied; else it is a JSON patch."""


class CompiledMutatingPolicy(PolicyExpressions, frozen=True, kw_only=True):
    """The expressions of a mutating policy, ready to run."""

    mutations: tuple[CompiledMutation, ...]
    reinvoked: bool


def compile_mutating_policy(spec: JsonObject) -> CompiledMutatingPolicy:
    """The programs of a policy; it was found valid, so what does not compile is rare."""
    compiler = PolicyCompiler(params=has_params(spec))
    return CompiledMutatingPolicy(
        variables=compile_variables(compiler, spec),
        conditions=compile_conditions(compiler, spec),
        mutations=tuple(_compiled(compiler, each) for each in spec.get("mutations") or ()),
        reinvoked=spec.get("reinvocationPolicy") == IF_NEEDED,
    )


def patched_object(
    policy: CompiledMutatingPolicy,
    mutation: CompiledMutation,
    names: Mapping[str, Any],
    schema: MergeSchema | None,
) -> JsonObject:
    """The object that names tell of, after one mutation of a policy; else MutationError."""
    value, obj = _evaluated(policy, mutation, names), names["object"]
    if mutation.applies:
        return _apply_configuration(value, obj, schema)
    return _apply_json_patch(value, obj)


def _compiled(compiler: PolicyCompiler, mutation: JsonObject) -> CompiledMutation:
    patch_type = mutation["patchType"]
    text = mutation[EXPRESSION_FIELDS[patch_type]]["expression"]
    expression = compile_expression(compiler, text, RETURN_TYPES[patch_type], patch_types=True)
    return CompiledMutation(expression, patch_type == APPLY_CONFIGURATION)


def _evaluated(
    policy: CompiledMutatingPolicy, mutation: CompiledMutation, names: Mapping[str, Any]
) -> Any:
    if mutation.expression.program is None:
        raise MutationError(mutation.expression.error)
    try:
        (result,) = run_expressions(policy, (mutation.expression,), names, Budget(BUDGET))
    except OutOfBudget as error:
        raise MutationError(str(error)) from None
    assert result is not None, "there is an expression"
    if result.error:
        raise MutationError(result.error)
    return result.value


def _apply_configuration(value: Any, obj: JsonObject, schema: MergeSchema | None) -> JsonObject:
    """ApplyStructuredMergeDiff: what a configuration names is set, all else stays as it is."""
    _check_type_names(value)
    config = {**_json(value), **{name: obj[name] for name in _TYPE_META if name in obj}}
    if schema is None:
        raise _untyped(f"no corresponding type for {_group_version_kind(obj)}")
    try:
        field_set_of(config, schema)
    except TypingError as error:
        raise _untyped(str(error)) from None
    if atomics := list(_atomics("", config, schema)):
        text = f"may not mutate atomic arrays, maps or structs: {', '.join(atomics)}"
        raise MutationError(f"error applying patch: invalid ApplyConfiguration: {text}")
    merged: JsonObject = merge(obj, config, schema)
    return merged


def _untyped(why: str) -> MutationError:
    text = f"failed to convert patch object to typed object: {why}"
    return MutationError(f"error applying patch: {text}")


def _group_version_kind(obj: JsonObject) -> str:
    group, _, version = obj.get("apiVersion", "").rpartition("/")
    return f"{group}/{version}, Kind={obj.get('kind', '')}"


def _atomics(path: str, value: Any, schema: MergeSchema) -> Iterator[str]:
    """findAtomics: what a configuration would replace as a whole, and so lose a part of."""
    if isinstance(value, dict):
        if schema.atomic:
            yield path
        for name, child in value.items():
            if schema.declares(name):
                yield from _atomics(f"{path}.{name}", child, schema.child(name))
    elif isinstance(value, list):
        if schema.list_type is ListType.ATOMIC:
            yield path
        for at, child in enumerate(value):
            yield from _atomics(f"{path}[{at}]", child, schema.item())


def _apply_json_patch(value: Any, obj: JsonObject) -> JsonObject:
    operations = [_operation(each.value) for each in value]
    try:
        changed: JsonObject = apply_operations(copy_json(obj), operations)
    except InapplicableOperation as error:
        if error.operation.get("op") == "test":
            return obj
        raise MutationError(f"JSON Patch: {inapplicable(error.operation)}") from None
    if not isinstance(changed, dict):
        raise MutationError("JSON Patch: what it leaves is no object")
    return changed


def _operation(fields: Mapping[str, Any]) -> JsonObject:
    operation = {"op": fields.get("op", ""), "path": fields.get("path", "")}
    if source := fields.get("from"):
        operation["from"] = source
    if "value" in fields:
        _check_type_names(fields["value"])
        operation["value"] = _json(fields["value"])
    return operation


def _check_type_names(value: Any) -> None:
    from quintant.cluster.apiserver.policy.object_values import type_name_errors

    if errors := list(type_name_errors(value)):
        raise MutationError("type mismatch: " + "\n".join(errors))


def _json(value: Any) -> Any:
    from quintant.cluster.apiserver.policy.object_values import json_value

    try:
        return json_value(value)
    except ValueError as error:
        raise MutationError(str(error)) from None
