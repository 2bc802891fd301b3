from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.authorization.policy_rules import EVERYTHING, Rule, compact, missing
from quintant.cluster.apiserver.meta.request_info import Route


def rule(*verbs: str, **more: Any) -> Rule:
    return Rule(verbs, **{"api_groups": ("",), "resources": ("pods",), **more})


def pods(verb: str = "get", **more: Any) -> Route:
    return Route(verb, "", **{"resource": "pods", "namespace": "a", **more})


@pytest.mark.parametrize(
    ("held", "asked", "allowed"),
    [
        (rule("get"), pods(), True),
        (rule("get"), pods("list"), False),
        (rule("*"), pods("list"), True),
        (rule("get"), pods(group="apps"), False),
        (rule("get", api_groups=("*",)), pods(group="apps"), True),
        (rule("get"), pods(sub="log"), False),
        (rule("get", resources=("pods/log",)), pods(sub="log"), True),
        (rule("get", resources=("*/log",)), pods(sub="log"), True),
        (rule("get", resources=("pods/*",)), pods(sub="log"), False),
        (rule("get", resources=("*",)), pods(sub="log"), True),
        (rule("get", resource_names=("x",)), pods(name="x"), True),
        (rule("get", resource_names=("x",)), pods(name="y"), False),
        (rule("list", resource_names=("x",)), pods("list"), False),
        (Rule(("get",), non_resource_urls=("/a/*",)), Route("get", "/a/b"), True),
        (Rule(("get",), non_resource_urls=("/a/*",)), Route("get", "/a"), False),
        (Rule(("get",), non_resource_urls=("*",)), Route("get", "/a"), True),
        (Rule(("get",), non_resource_urls=("*",)), pods(), False),
        (rule("get", resources=("*",)), Route("get", "/a"), False),
    ],
)
def test_a_rule_allows_what_it_names(held: Rule, asked: Route, allowed: bool) -> None:
    assert held.allows(asked) is allowed


def test_what_is_missing_is_told_by_resource_with_all_its_verbs() -> None:
    wanted = rule("get", "list", "delete", resources=("pods", "secrets"))
    lacking = compact(missing([rule("get", "list")], [wanted]))
    assert [str(each) for each in lacking] == [
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "delete"]}',
    ]


def test_paths_are_told_one_by_one() -> None:
    wanted = Rule(("get", "post"), non_resource_urls=("/metrics",))
    assert [str(each) for each in compact(missing([], [wanted]))] == [
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
        '{NonResourceURLs:["/metrics"], Verbs:["post"]}',
    ]


def test_a_permission_on_one_name_does_not_cover_all_names() -> None:
    named, unnamed = rule("get", resource_names=("x",)), rule("get")
    assert missing([unnamed], [named]) == []
    assert missing([named], [unnamed]) == [unnamed]
    assert str(named) == (
        '{APIGroups:[""], Resources:["pods"], ResourceNames:["x"], Verbs:["get"]}'
    )


_WORDS = st.lists(st.sampled_from(["a", "b", "c/d", "*/d", "*"]), min_size=1, max_size=3)
_RULES = st.builds(
    Rule,
    verbs=_WORDS.map(tuple),
    api_groups=_WORDS.map(tuple),
    resources=_WORDS.map(tuple),
    resource_names=st.lists(st.sampled_from(["x", "y"]), max_size=2).map(tuple),
)
_ROUTES = st.builds(
    Route,
    verb=st.sampled_from("abz"),
    path=st.just(""),
    group=st.sampled_from("abz"),
    resource=st.sampled_from("abcz"),
    sub=st.sampled_from(["", "d"]),
    name=st.sampled_from(["", "x", "z"]),
)


@given(_RULES)
def test_an_administrator_lacks_nothing(wanted: Rule) -> None:
    assert missing(EVERYTHING, [wanted]) == []
    assert missing([wanted], [wanted]) == []


@given(st.lists(_RULES, max_size=3), _RULES, _ROUTES)
def test_whoever_lacks_nothing_of_a_rule_may_do_all_it_allows(
    held: list[Rule], wanted: Rule, asked: Route
) -> None:
    if wanted.allows(asked) and not missing(held, [wanted]):
        assert any(rule.allows(asked) for rule in held)


@given(_RULES, _ROUTES)
def test_pieces_allow_what_the_whole_allows(whole: Rule, asked: Route) -> None:
    assert any(piece.allows(asked) for piece in whole.pieces()) is whole.allows(asked)
