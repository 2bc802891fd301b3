from __future__ import annotations

import pytest

from quintant.cluster.apiserver.authorization.bindings import GROUP
from quintant.cluster.apiserver.validation.rbac import (
    default_binding,
    validate_cluster_role,
    validate_cluster_role_binding,
    validate_role,
    validate_role_binding,
)
from unit.cluster.api import JsonObject
from unit.cluster.rbac_server import binding, rule, subject


def told(causes: object) -> list[tuple[str, str]]:
    return [(cause.field, cause.message) for cause in causes]  # type: ignore[attr-defined]


def test_groups_are_filled_in_where_they_go_without_saying() -> None:
    bound: JsonObject = {
        "roleRef": {"kind": "Role", "name": "r"},
        "subjects": [
            {"kind": "User", "name": "u"},
            {"kind": "Group", "name": "g", "apiGroup": "x"},
            {"kind": "ServiceAccount", "name": "s"},
        ],
    }
    default_binding(bound)
    assert bound["roleRef"]["apiGroup"] == GROUP
    assert [each.get("apiGroup") for each in bound["subjects"]] == [GROUP, "x", None]


def test_a_good_role_and_a_good_binding_are_fine() -> None:
    paths = {"verbs": ["get"], "nonResourceURLs": ["/x"]}
    assert told(validate_role({"rules": [rule("get", "pods")]})) == []
    assert told(validate_cluster_role({"rules": [rule("get", "pods"), paths]})) == []
    assert told(validate_role_binding(binding("b", "Role", "r", subject("u")))) == []


@pytest.mark.parametrize(
    ("held", "field"),
    [
        ({"apiGroups": [""], "resources": ["pods"]}, "rules[0].verbs"),
        ({"verbs": ["get"], "resources": ["pods"]}, "rules[0].apiGroups"),
        ({"verbs": ["get"], "apiGroups": [""]}, "rules[0].resources"),
        ({"verbs": ["get"], "nonResourceURLs": ["/x"]}, "rules[0].nonResourceURLs"),
    ],
)
def test_a_rule_says_what_on_what(held: JsonObject, field: str) -> None:
    assert [at for at, _ in told(validate_role({"rules": [held]}))] == [field]


def test_paths_and_resources_do_not_mix() -> None:
    both = rule("get", "pods", nonResourceURLs=["/x"])
    ((field, text),) = told(validate_cluster_role({"rules": [both]}))
    assert field == "rules[0].nonResourceURLs"
    assert text.endswith("rules cannot apply to both regular resources and non-resource URLs")


def test_who_gathers_must_select_something_sensible() -> None:
    path = "aggregationRule.clusterRoleSelectors"
    empty: JsonObject = {"aggregationRule": {}}
    assert [at for at, _ in told(validate_cluster_role(empty))] == [path]
    bad = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a b": "c"}}]}}
    assert [at for at, _ in told(validate_cluster_role(bad))] == [
        f"{path}[0].matchLabels",
        f"{path}[0]",
    ]


def test_a_cluster_binding_binds_cluster_roles_to_accounts_somewhere() -> None:
    bound = binding("b", "Role", "r", {"kind": "ServiceAccount", "name": "s"})
    assert [at for at, _ in told(validate_cluster_role_binding(bound))] == [
        "roleRef.kind",
        "subjects[0].namespace",
    ]


def test_what_a_binding_binds_stays() -> None:
    before, after = binding("b", "Role", "r"), binding("b", "Role", "q")
    assert told(validate_role_binding(before, before)) == []
    ((field, text),) = told(validate_role_binding(after, before))
    assert (field, text) == (
        "roleRef",
        f'Invalid value: {{"APIGroup":"{GROUP}","Kind":"Role","Name":"q"}}: cannot change roleRef',
    )


@pytest.mark.parametrize(
    ("whom", "field"),
    [
        ({"kind": "Robot", "name": "x"}, "subjects[0].kind"),
        ({"kind": "User", "apiGroup": GROUP}, "subjects[0].name"),
        ({"kind": "User", "name": "x", "apiGroup": "y"}, "subjects[0].apiGroup"),
        ({"kind": "ServiceAccount", "name": "X_"}, "subjects[0].name"),
        ({"kind": "ServiceAccount", "name": "x", "apiGroup": GROUP}, "subjects[0].apiGroup"),
    ],
)
def test_a_subject_is_somebody(whom: JsonObject, field: str) -> None:
    bound = binding("b", "Role", "r", whom)
    assert [at for at, _ in told(validate_role_binding(bound))] == [field]
