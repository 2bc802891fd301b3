"""ValidateFlowSchema: whose requests, and for what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quintant.cluster.apiserver.meta.field_errors import (
    forbidden,
    invalid,
    invalid_each,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.names import dns1123_label_errors, dns1123_subdomain_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.flow_control.bootstrap import (
    EXEMPT,
    MANDATORY,
    flow_schemas,
)
from quintant.cluster.apiserver.validation.flow_control.status import condition_causes
from quintant.core.errors import Cause

LAST_PRECEDENCE = 10_000
_ANY = "*"
_METHODS = ("ByNamespace", "ByUser")
_VERBS = (
    *("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"),
)
_SUBJECTS = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}
_NAMESPACES = "each member of this list must be '*' or a DNS-1123 label; "


def validate_flow_schema(schema: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a schema."""
    name, spec = schema["metadata"].get("name") or "", schema.get("spec") or {}
    yield from _precedence_causes(name, spec.get("matchingPrecedence") or 0)
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in _METHODS:
        yield not_supported("spec.distinguisherMethod.type", method, _METHODS)
    level = (spec.get("priorityLevelConfiguration") or {}).get("name") or ""
    path = "spec.priorityLevelConfiguration.name"
    if level:
        yield from invalid_each(path, level, dns1123_subdomain_errors(level))
    else:
        yield required(path, "must reference a priority level")
    for at, rule in enumerate(spec.get("rules") or ()):
        yield from _rule_causes(rule, f"spec.rules[{at}]")
    if name in MANDATORY and spec != flow_schemas()[name]:
        yield invalid("spec", spec, f"spec of '{name}' must equal the fixed value")
    yield from condition_causes(schema)


def _precedence_causes(name: str, precedence: int) -> Iterator[Cause]:
    path = "spec.matchingPrecedence"
    if precedence <= 0:
        yield invalid(path, precedence, "must be a positive value")
    if precedence > LAST_PRECEDENCE:
        yield invalid(path, precedence, f"must not be greater than {LAST_PRECEDENCE}")
    if precedence == 1 and name != EXEMPT:
        text = "only the schema named 'exempt' may have matchingPrecedence 1"
        yield invalid(path, precedence, text)


def _rule_causes(rule: JsonObject, path: str) -> Iterator[Cause]:
    subjects = rule.get("subjects") or ()
    resources, paths = rule.get("resourceRules") or (), rule.get("nonResourceRules") or ()
    for at, subject in enumerate(subjects):
        yield from _subject_causes(subject, f"{path}.subjects[{at}]")
    if not subjects:
        yield required(f"{path}.subjects", "subjects must contain at least one value")
    if not resources and not paths:
        text = "at least one of resourceRules and nonResourceRules has to be non-empty"
        yield required(path, text)
    for at, each in enumerate(resources):
        yield from _resource_causes(each, f"{path}.resourceRules[{at}]")
    for at, each in enumerate(paths):
        yield from _path_causes(each, f"{path}.nonResourceRules[{at}]")


def _subject_causes(subject: JsonObject, path: str) -> Iterator[Cause]:
    kind = subject.get("kind") or ""
    if kind not in _SUBJECTS:
        yield not_supported(f"{path}.kind", kind, sorted(_SUBJECTS))
        return
    own = _SUBJECTS[kind]
    if subject.get(own) is None:
        yield required(f"{path}.{own}", f"{own} is required when subject kind is '{kind}'")
    else:
        yield from _named_causes(subject[own], kind, f"{path}.{own}")
    for other, name in _SUBJECTS.items():
        if other != kind and subject.get(name) is not None:
            text = f"{name} is forbidden when subject kind is not '{other}'"
            yield forbidden(f"{path}.{name}", text)


def _named_causes(subject: JsonObject, kind: str, path: str) -> Iterator[Cause]:
    name, namespace = subject.get("name") or "", subject.get("namespace") or ""
    if not name:
        yield required(f"{path}.name")
    if kind != "ServiceAccount":
        return
    if name not in ("", _ANY):
        yield from invalid_each(f"{path}.name", name, dns1123_subdomain_errors(name))
    if namespace:
        yield from invalid_each(f"{path}.namespace", namespace, dns1123_label_errors(namespace))
    else:
        yield required(f"{path}.namespace", "must specify namespace for service account")


def _resource_causes(rule: JsonObject, path: str) -> Iterator[Cause]:
    yield from _verb_causes(rule, path)
    for field, one, many in (
        ("apiGroups", "api group", "api groups"),
        ("resources", "resource", "resources"),
    ):
        values = rule.get(field) or ()
        if not values:
            yield required(f"{path}.{field}", f"resource rules must supply at least one {one}")
        elif len(values) > 1 and _ANY in values:
            yield _alone(f"{path}.{field}", values, many)
    namespaces, path = rule.get("namespaces") or (), f"{path}.namespaces"
    if not namespaces and not rule.get("clusterScope"):
        text = "resource rules that are not cluster scoped must supply at least one namespace"
        yield required(path, text)
    elif _ANY in namespaces:
        if len(namespaces) > 1:
            yield _alone(path, namespaces, "namespaces")
    else:
        for at, namespace in enumerate(namespaces):
            for complaint in dns1123_label_errors(namespace):
                yield invalid(f"{path}[{at}]", namespace, _NAMESPACES + complaint)


def _path_causes(rule: JsonObject, path: str) -> Iterator[Cause]:
    yield from _verb_causes(rule, path)
    urls, path = rule.get("nonResourceURLs") or (), f"{path}.nonResourceURLs"
    if not urls:
        yield required(path, "nonResourceURLs must contain at least one value")
    elif _ANY in urls:
        if len(urls) > 1:
            yield _alone(path, urls, "non-resource URLs")
    else:
        for at, url in enumerate(urls):
            if complaint := _url_error(url):
                yield invalid(f"{path}[{at}]", url, complaint)


def _verb_causes(rule: JsonObject, path: str) -> Iterator[Cause]:
    verbs, path = rule.get("verbs") or (), f"{path}.verbs"
    if not verbs:
        yield required(path, "verbs must contain at least one value")
    elif _ANY in verbs:
        if len(verbs) > 1:
            yield _alone(path, verbs, "verbs")
    elif not set(verbs) <= set(_VERBS):
        yield not_supported(path, verbs, _VERBS)


def _alone(path: str, values: Sequence[str], what: str) -> Cause:
    return invalid(path, values, f"if '*' is present, must not specify other {what}")


def _url_error(url: str) -> str:
    """ValidateNonResourceURLPath: what is wrong with a path; empty if nothing is."""
    if not url:
        return "must not be empty"
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    if url.count(_ANY) > 1 or (_ANY in url and not url.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""
