"""TypeChecker: expressions of a policy that cannot fit the objects it is about.

A policy is taken as it is; who wrote it reads of such expressions in its status. Rules with
wildcards are about everything, so nothing is known of their objects. Others wait for the check, so
a policy with very many expressions and kinds is not checked. CEL is loaded with the first policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.policies.expressions import PolicyCompiler
from quintant.cluster.apiserver.validation.policies.validating import has_params

if TYPE_CHECKING:
    from quintant.cluster.apiserver.cel.types import CelType

MOST_TYPES = 10
"""Kinds that a policy is checked for."""
MOST_COMPILATIONS = 500
"""Expressions, once for every kind, of a policy that is checked: some tens of milliseconds."""
_EXPRESSIONS = ("expression", "messageExpression")
_COMPILATION = "compilation failed: "


def check_policy(catalog: Catalog, spec: JsonObject) -> list[JsonObject]:
    """The warnings about a policy's validations, as its status has them."""
    kinds, expressions = kinds_to_check(catalog, spec), dict(_expressions(spec))
    params, variables = _params_kind(catalog, spec), len(spec.get("variables") or ())
    if len(kinds) * (len(expressions) + variables) > MOST_COMPILATIONS:
        return []
    issues: dict[str, list[str]] = {}
    for kind in kinds:
        for path, issue in _issues(kind, params, spec, expressions):
            issues.setdefault(path, []).append(issue)
    return [
        {"fieldRef": path, "warning": "\n".join(issues[path])}
        for path in expressions
        if path in issues
    ]


def _expressions(spec: JsonObject) -> Iterator[tuple[str, str]]:
    """The expressions of validations, each with its path."""
    for at, validation in enumerate(spec.get("validations") or ()):
        for name in _EXPRESSIONS:
            if text := validation.get(name):
                yield f"spec.validations[{at}].{name}", text


def kinds_to_check(catalog: Catalog, spec: JsonObject) -> list[Kind]:
    """The kinds that a policy names, without wildcards, in order."""
    found: dict[tuple[str, str, str], Kind] = {}
    rules: Sequence[JsonObject] = (spec.get("matchConstraints") or {}).get("resourceRules") or ()
    for rule in rules:
        named = list(_named_kinds(catalog, rule))
        for kind in named[:MOST_TYPES]:
            resource = kind.resource
            found[resource.group, resource.version, resource.kind] = kind
        if len(named) >= MOST_TYPES:
            break
    return [found[key] for key in sorted(found)]


def _named_kinds(catalog: Catalog, rule: JsonObject) -> Iterator[Kind]:
    groups, versions = rule.get("apiGroups") or (), rule.get("apiVersions") or ()
    if any("*" in name for name in (*groups, *versions)):
        return
    plurals = [name for name in rule.get("resources") or () if not set("*/") & set(name)]
    for group in sorted(groups):
        for version in sorted(versions):
            for plural in sorted(plurals):
                if (kind := catalog.find(group, version, plural)) is not None:
                    yield kind


def _params_kind(catalog: Catalog, spec: JsonObject) -> Kind | None:
    if not has_params(spec):
        return None
    group, _, version = spec["paramKind"]["apiVersion"].rpartition("/")
    kinds = catalog.version(group, version)
    return next((k for k in kinds if k.resource.kind == spec["paramKind"]["kind"]), None)


def _issues(
    kind: Kind, params: Kind | None, spec: JsonObject, expressions: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """What is wrong with expressions for objects of one kind, by path."""
    from quintant.cluster.apiserver.cel import Uncompilable

    compiler = PolicyCompiler(params=has_params(spec), known=_types(kind, params))
    _compile_variables(compiler, spec)
    resource = kind.resource
    what = f"{resource.group}/{resource.version}, Kind={resource.kind}"
    for path, expression in expressions.items():
        try:
            compiler.compile(expression)
        except Uncompilable as error:
            yield path, f"{what}: {str(error).removeprefix(_COMPILATION)}\n"


def _types(kind: Kind, params: Kind | None) -> Mapping[str, CelType]:
    from quintant.cluster.apiserver.policy.message_types import object_type

    found, of_params = object_type(kind), None if params is None else object_type(params)
    return {
        **({} if found is None else {"object": found, "oldObject": found}),
        **({} if of_params is None else {"params": of_params}),
    }


def _compile_variables(compiler: PolicyCompiler, spec: JsonObject) -> None:
    from quintant.cluster.apiserver.cel import Uncompilable

    for variable in spec.get("variables") or ():
        try:
            compiler.compile_variable(variable["name"], variable["expression"])
        except Uncompilable:
            # What uses it is checked as if it could be anything.
            continue
