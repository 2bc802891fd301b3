from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.authorization.policy_rules import (
    EVERYTHING,
    RbacRule,
    compact_rules,
    uncovered_rules,
)
from quintant.cluster.apiserver.meta.request_info import RequestInfo


def rule(*verbs: str, **more: Any) -> RbacRule:
    return RbacRule(verbs, **{"api_groups": ("",), "resources": ("pods",), **more})


def pods(verb: str = "get", **more: Any) -> RequestInfo:
    return RequestInfo(verb, "", **{"resource": "pods", "namespace": "a", **more})


@pytest.mark.parametrize(
    ("held", "asked", "allowed"),
    [
        (rule("get"), pods(), True),
        (rule("get"), pods("list"), False),
        (rule("*"), pods("list"), True),
        (rule("get"), pods(group="apps"), False),
        (rule("get", api_groups=("*",)), pods(group="apps"), True),
        (rule("get"), pods(subresource="log"), False),
        (rule("get", resources=("pods/log",)), pods(subresource="log"), True),
        (rule("get", resources=("*/log",)), pods(subresource="log"), True),
        (rule("get", resources=("pods/*",)), pods(subresource="log"), False),
        (rule("get", resources=("*",)), pods(subresource="log"), True),
        (rule("get", resource_names=("x",)), pods(name="x"), True),
        (rule("get", resource_names=("x",)), pods(name="y"), False),
        (rule("list", resource_names=("x",)), pods("list"), False),
        (RbacRule(("get",), non_resource_urls=("/a/*",)), RequestInfo("get", "/a/b"), True),
        (RbacRule(("get",), non_resource_urls=("/a/*",)), RequestInfo("get", "/a"), False),
        (RbacRule(("get",), non_resource_urls=("*",)), RequestInfo("get", "/a"), True),
        (RbacRule(("get",), non_resource_urls=("*",)), pods(), False),
        (rule("get", resources=("*",)), RequestInfo("get", "/a"), False),
    ],
)
def test_a_rule_allows_what_it_names(held: RbacRule, asked: RequestInfo, allowed: bool) -> None:
    assert held.allows(asked) is allowed


def test_what_is_missing_is_told_by_resource_with_all_its_verbs() -> None:
    wanted = rule("get", "list", "delete", resources=("pods", "secrets"))
    lacking = compact_rules(uncovered_rules([rule("get", "list")], [wanted]))
    assert [str(each) for each in lacking] == [
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "delete"]}',
    ]


def test_paths_are_told_one_by_one() -> None:
    wanted = RbacRule(("get", "post"), non_resource_urls=("/metrics",))
    assert [str(each) for each in compact_rules(uncovered_rules([], [wanted]))] == [
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
        '{NonResourceURLs:["/metrics"], Verbs:["post"]}',
    ]


def test_a_permission_on_one_name_does_not_cover_all_names() -> None:
    named, unnamed = rule("get", resource_names=("x",)), rule("get")
    assert uncovered_rules([unnamed], [named]) == []
    assert uncovered_rules([named], [unnamed]) == [unnamed]
    assert str(named) == (
        '{APIGroups:[""], Resources:["pods"], ResourceNames:["x"], Verbs:["get"]}'
    )


_WORDS = st.lists(st.sampled_from(["a", "b", "c/d", "*/d", "*"]), min_size=1, max_size=3)
_RULES = st.builds(
    RbacRule,
    verbs=_WORDS.map(tuple),
    api_groups=_WORDS.map(tuple),
    resources=_WORDS.map(tuple),
    resource_names=st.lists(st.sampled_from(["x", "y"]), max_size=2).map(tuple),
)
_ROUTES = st.builds(
    RequestInfo,
    verb=st.sampled_from("abz"),
    path=st.just(""),
    group=st.sampled_from("abz"),
    resource=st.sampled_from("abcz"),
    subresource=st.sampled_from(["", "d"]),
    name=st.sampled_from(["", "x", "z"]),
)


@given(_RULES)
def test_an_administrator_lacks_nothing(wanted: RbacRule) -> None:
    assert uncovered_rules(EVERYTHING, [wanted]) == []
    assert uncovered_rules([wanted], [wanted]) == []


@given(st.lists(_RULES, max_size=3), _RULES, _ROUTES)
def test_whoever_lacks_nothing_of_a_rule_may_do_all_it_allows(
    held: list[RbacRule], wanted: RbacRule, asked: RequestInfo
) -> None:
    if wanted.allows(asked) and not uncovered_rules(held, [wanted]):
        assert any(rule.allows(asked) for rule in held)


@given(_RULES, _ROUTES)
def test_pieces_allow_what_the_whole_allows(whole: RbacRule, asked: RequestInfo) -> None:
    assert any(piece.allows(asked) for piece in whole.breakdown()) is whole.allows(asked)
