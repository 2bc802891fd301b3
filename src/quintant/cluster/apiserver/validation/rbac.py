"""ValidateRole, ValidateRoleBinding: rules, subjects, and the role reference that stays.

What they allow is read elsewhere (quintant.cluster.apiserver.authorization.rbac).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from quintant.cluster.apiserver.authorization.bindings import GROUP
from quintant.cluster.apiserver.meta.field_errors import (
    invalid,
    invalid_each,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors, path_segment_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.label_selectors import selector_causes
from quintant.core.errors import Cause

_SUBJECTS = ("ServiceAccount", "User", "Group")


def default_binding(binding: JsonObject) -> None:
    """Fill in the API groups of the role and the subjects, in place."""
    ref = binding.get("roleRef")
    if isinstance(ref, dict) and ref and not ref.get("apiGroup"):
        binding["roleRef"] = {"apiGroup": GROUP, **ref}
    subjects = binding.get("subjects")
    if isinstance(subjects, list):
        binding["subjects"] = [_default_subject(subject) for subject in subjects]


def validate_role(role: JsonObject, live: JsonObject | None = None) -> Iterator[Cause]:
    """What is wrong with a Role."""
    for at, rule in enumerate(role.get("rules") or ()):
        yield from _rule_causes(f"rules[{at}]", rule, namespaced=True)


def validate_cluster_role(role: JsonObject, live: JsonObject | None = None) -> Iterator[Cause]:
    """What is wrong with a ClusterRole."""
    for at, rule in enumerate(role.get("rules") or ()):
        yield from _rule_causes(f"rules[{at}]", rule, namespaced=False)
    gathered = role.get("aggregationRule")
    if gathered is None:
        return
    path, selectors = "aggregationRule.clusterRoleSelectors", gathered.get("clusterRoleSelectors")
    if not selectors:
        yield required(
            path, "at least one clusterRoleSelector required if aggregationRule is non-nil"
        )
    for at, selector in enumerate(selectors or ()):
        yield from _selector_causes(f"{path}[{at}]", selector)


def validate_role_binding(binding: JsonObject, live: JsonObject | None = None) -> Iterator[Cause]:
    """What is wrong with a RoleBinding."""
    yield from _binding_causes(binding, live, ("Role", "ClusterRole"))


def validate_cluster_role_binding(
    binding: JsonObject, live: JsonObject | None = None
) -> Iterator[Cause]:
    """What is wrong with a ClusterRoleBinding."""
    yield from _binding_causes(binding, live, ("ClusterRole",))


def _default_subject(subject: Any) -> Any:
    if isinstance(subject, dict) and subject.get("kind") in ("User", "Group"):
        return {**subject, "apiGroup": subject.get("apiGroup") or GROUP}
    return subject


def _rule_causes(path: str, rule: JsonObject, *, namespaced: bool) -> Iterator[Cause]:
    if not rule.get("verbs"):
        yield required(f"{path}.verbs", "verbs must contain at least one value")
    urls = rule.get("nonResourceURLs")
    if urls:
        if namespaced:
            text = "namespaced rules cannot apply to non-resource URLs"
            yield invalid(f"{path}.nonResourceURLs", urls, text)
        if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            text = "rules cannot apply to both regular resources and non-resource URLs"
            yield invalid(f"{path}.nonResourceURLs", urls, text)
        return
    if not rule.get("apiGroups"):
        text = "resource rules must supply at least one api group"
        yield required(f"{path}.apiGroups", text)
    if not rule.get("resources"):
        yield required(f"{path}.resources", "resource rules must supply at least one resource")


def _selector_causes(path: str, selector: JsonObject) -> Iterator[Cause]:
    complaints = [*selector_causes(path, selector)]
    yield from complaints
    if complaints:
        yield invalid(path, None, "invalid label selector.")


def _binding_causes(
    binding: JsonObject, live: JsonObject | None, kinds: Sequence[str]
) -> Iterator[Cause]:
    ref = binding.get("roleRef") or {}
    yield from _ref_causes(ref, kinds)
    for at, subject in enumerate(binding.get("subjects") or ()):
        namespaced = len(kinds) > 1
        yield from _subject_causes(f"subjects[{at}]", subject, namespaced=namespaced)
    if live is not None and ref != live.get("roleRef"):
        yield invalid("roleRef", _go_ref(ref), "cannot change roleRef")


def _ref_causes(ref: JsonObject, kinds: Sequence[str]) -> Iterator[Cause]:
    group, name = ref.get("apiGroup") or GROUP, ref.get("name")
    if group != GROUP:
        yield not_supported("roleRef.apiGroup", group, [GROUP])
    if ref.get("kind") not in kinds:
        yield not_supported("roleRef.kind", ref.get("kind", ""), kinds)
    if not name:
        yield required("roleRef.name")
    else:
        yield from invalid_each("roleRef.name", name, path_segment_errors(name))


def _subject_causes(path: str, subject: JsonObject, *, namespaced: bool) -> Iterator[Cause]:
    kind, name = subject.get("kind", ""), subject.get("name", "")
    if not name:
        yield required(f"{path}.name")
    if kind not in _SUBJECTS:
        yield not_supported(f"{path}.kind", kind, _SUBJECTS)
        return
    account = kind == "ServiceAccount"
    if account and name:
        yield from invalid_each(f"{path}.name", name, dns1123_subdomain_errors(name))
    group, expected = subject.get("apiGroup", ""), "" if account else GROUP
    if group != expected:
        yield not_supported(f"{path}.apiGroup", group, [expected])
    if account and not namespaced and not subject.get("namespace"):
        yield required(f"{path}.namespace")


def _go_ref(ref: JsonObject) -> JsonObject:
    """A reference as Go prints the structure: by the names of its fields."""
    names = {"APIGroup": "apiGroup", "Kind": "kind", "Name": "name"}
    return {shown: ref.get(name, "") for shown, name in names.items()}
