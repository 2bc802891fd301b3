"""ValidateValidatingAdmissionPolicy: parameters, matches, variables, validations, annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from quintant.cluster.apiserver.meta.field_errors import (
    duplicate,
    invalid,
    invalid_each,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.names import (
    dns1035_label_errors,
    dns1123_subdomain_errors,
    qualified_name_errors,
)
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import validate_enum
from quintant.cluster.apiserver.validation.policies.expressions import (
    PolicyCompiler,
    expression_causes,
)
from quintant.cluster.apiserver.validation.policies.match_resources import (
    match_constraints_causes,
)
from quintant.cluster.apiserver.validation.webhooks.match_conditions import condition_causes
from quintant.core.errors import Cause

MOST_ANNOTATIONS = 20
LONGEST_ANNOTATION = 5 * 1024
"""Bytes of the expression of an annotation's value."""
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_NOTHING = "validations or auditAnnotations must contain at least one item"
_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_BREAK = re.compile(r"[\n\r]")


def validate_validating_policy(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a policy."""
    spec = obj.get("spec") or {}
    variables = spec.get("variables") or ()
    compiler = PolicyCompiler(params=has_params(spec), composed=bool(variables))
    yield from policy_causes(spec)
    yield from match_condition_causes(spec)
    yield from variable_causes(compiler, variables)
    yield from _content_causes(compiler, obj, spec)


def has_params(spec: JsonObject) -> bool:
    """Whether a policy has parameters."""
    return spec.get("paramKind") is not None


def policy_causes(spec: JsonObject) -> Iterator[Cause]:
    """What is wrong with what every policy says: what it is about, and with what parameters."""
    yield from validate_enum("spec.failurePolicy", spec.get("failurePolicy"), ("Fail", "Ignore"))
    if has_params(spec):
        yield from _param_kind_causes(spec["paramKind"], "spec.paramKind")
    yield from match_constraints_causes(spec.get("matchConstraints"), "spec.matchConstraints")


def match_condition_causes(spec: JsonObject) -> Iterator[Cause]:
    """What is wrong with the conditions of a policy; they know no variables."""
    stateless = PolicyCompiler(params=has_params(spec), composed=False)
    conditions = spec.get("matchConditions") or ()
    yield from condition_causes(conditions, "spec.matchConditions", partial(stateless.compile))


def _param_kind_causes(kind: JsonObject, path: str) -> Iterator[Cause]:
    yield from _api_version_causes(kind.get("apiVersion") or "", f"{path}.apiVersion")
    name = kind.get("kind") or ""
    if not name:
        yield required(f"{path}.kind")
    elif complaints := dns1035_label_errors(name.lower()):
        text = f"may have mixed case, but should otherwise match: {','.join(complaints)}"
        yield invalid(f"{path}.kind", name, text)


def _api_version_causes(api_version: str, path: str) -> Iterator[Cause]:
    if not api_version:
        yield required(path)
        return
    if api_version.count("/") > 1:
        yield invalid(path, api_version, f"unexpected GroupVersion string: {api_version}")
        return
    group, _, version = ("" if api_version == "/" else api_version).rpartition("/")
    if group and (complaints := dns1123_subdomain_errors(group)):
        yield invalid(path, group, ",".join(complaints))
    if not version:
        yield invalid(path, api_version, "version must be specified")
    elif complaints := dns1035_label_errors(version):
        yield invalid(path, version, ",".join(complaints))


def variable_causes(compiler: PolicyCompiler, variables: Sequence[JsonObject]) -> Iterator[Cause]:
    """What is wrong with variables; the compiler knows them afterwards."""
    from quintant.cluster.apiserver.cel import Uncompilable
    from quintant.cluster.apiserver.cel.schemas import RESERVED

    for at, variable in enumerate(variables):
        path, name = f"spec.variables[{at}]", variable.get("name") or ""
        if not name.strip():
            yield required(f"{path}.name", "name is not specified")
        elif not _IDENTIFIER.fullmatch(name) or name in RESERVED:
            yield invalid(f"{path}.name", name, "must be a valid CEL identifier")
        expression = variable.get("expression") or ""
        if not expression.strip():
            yield required(f"{path}.expression", "expression is not specified")
            continue
        try:
            compiler.compile_variable(name, expression)
        except Uncompilable as error:
            yield invalid(f"{path}.expression", expression, str(error))


def _content_causes(compiler: PolicyCompiler, obj: JsonObject, spec: JsonObject) -> Iterator[Cause]:
    validations = spec.get("validations") or ()
    annotations = spec.get("auditAnnotations") or ()
    if not validations and not annotations:
        yield required("spec.validations", _NOTHING)
        yield required("spec.auditAnnotations", _NOTHING)
        return
    for at, validation in enumerate(validations):
        yield from _validation_causes(compiler, validation, f"spec.validations[{at}]")
    if len(annotations) > MOST_ANNOTATIONS:
        text = f"must not have more than {MOST_ANNOTATIONS} auditAnnotations"
        yield invalid("spec.auditAnnotations", annotations, text)
    name, keys = obj["metadata"].get("name") or "", set()
    for at, annotation in enumerate(annotations):
        path, key = f"spec.auditAnnotations[{at}]", annotation.get("key") or ""
        yield from _annotation_causes(compiler, name, annotation, path)
        if key in keys:
            yield duplicate(f"{path}.key", key)
        keys.add(key)


def _validation_causes(
    compiler: PolicyCompiler, validation: JsonObject, path: str
) -> Iterator[Cause]:
    expression = validation.get("expression") or ""
    if not expression.strip():
        yield required(f"{path}.expression", "expression is not specified")
    else:
        yield from expression_causes(compiler, expression, f"{path}.expression", "bool")
    message = validation.get("messageExpression") or ""
    if message and not message.strip():
        yield invalid(f"{path}.messageExpression", message, "must be non-empty if specified")
    elif message:
        yield from expression_causes(
            compiler, message, f"{path}.messageExpression", "string", authorizer=False
        )
    text = validation.get("message") or ""
    if text and not text.strip():
        yield invalid(f"{path}.message", text, "must be non-empty if specified")
    elif _BREAK.search(text.strip()):
        yield invalid(f"{path}.message", text, "must not contain line breaks")
    reason = validation.get("reason")
    if reason is not None and reason not in _REASONS:
        yield not_supported(f"{path}.reason", reason, _REASONS)


def _annotation_causes(
    compiler: PolicyCompiler, policy: str, annotation: JsonObject, path: str
) -> Iterator[Cause]:
    key, value = annotation.get("key") or "", annotation.get("valueExpression") or ""
    if not policy:
        yield invalid(f"{path}.key", key, "requires metadata.name be non-empty")
    else:
        whole = f"{policy}/{key}"
        yield from invalid_each(f"{path}.key", whole, qualified_name_errors(whole))
    if not value.strip():
        yield required(f"{path}.valueExpression", "valueExpression is not specified")
    elif len(value.strip().encode()) > LONGEST_ANNOTATION:
        text = f"must not exceed {LONGEST_ANNOTATION} bytes in length"
        yield required(f"{path}.valueExpression", text)
    else:
        yield from expression_causes(compiler, value, f"{path}.valueExpression", "string", "null")
