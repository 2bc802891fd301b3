from __future__ import annotations

import pytest

from quintant.cluster.apiserver.authorization.rbac import forbidden_request
from quintant.cluster.apiserver.filters.impersonation import (
    GROUP,
    NODE_NAME,
    Impersonation,
    requested_user,
)
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.meta.user import AUTHENTICATED, MASTERS, UNAUTHENTICATED, User

LIST_PODS = RequestInfo("list", "", "", "v1", "pods", "default")
ANN = User("ann")


class Allowed:
    """Allows wishes by verb and what they are about, and remembers those that came."""

    def __init__(self, *pairs: str) -> None:
        self._pairs = pairs
        self.attributes: list[str] = []

    def __call__(self, user: User, attributes: RequestInfo) -> None:
        pair = f"{attributes.verb} {attributes.full_resource} {attributes.name}".strip()
        self.attributes.append(pair)
        if pair not in self._pairs:
            raise forbidden_request(user, attributes)


def become(other: User, *pairs: str, by: User = ANN) -> User:
    return Impersonation(Allowed(*pairs)).impersonate(by, other, LIST_PODS)


def refusal(other: User, *pairs: str) -> str:
    with pytest.raises(StatusError) as refused:
        become(other, *pairs)
    assert refused.value.code == 403
    return refused.value.message


def test_a_request_says_whom_it_wants_to_be() -> None:
    assert requested_user({}) is None
    asked = {
        "impersonate-user": "bob",
        "impersonate-uid": "u",
        "impersonate-group": "a, b\nc",
        "impersonate-extra-a%2fb": "x\ny",
    }
    assert requested_user(asked) == User("bob", ("a, b", "c"), "u", {"a/b": ("x", "y")})


def test_groups_without_a_user_make_no_sense() -> None:
    with pytest.raises(StatusError) as refused:
        requested_user({"impersonate-group": "a"})
    assert (refused.value.code, refused.value.message) == (
        400,
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a"}, '
        "Extra:map[string][]string(nil)} without impersonating a user name",
    )


def test_everything_that_is_asked_for_must_be_allowed() -> None:
    other = User("bob", ("g",), "u", {"scopes": ("s",)})
    attributes = (
        "impersonate users bob",
        "impersonate uids u",
        "impersonate groups g",
        "impersonate userextras/scopes s",
    )
    assert become(other, *attributes).groups == ("g", AUTHENTICATED)
    for lacking in attributes:
        with pytest.raises(StatusError):
            become(other, *(each for each in attributes if each != lacking))


def test_a_service_account_comes_with_its_groups_unless_others_are_named() -> None:
    account = User("system:serviceaccount:ns:bot")
    found = become(account, "impersonate serviceaccounts bot")
    assert found.groups == ("system:serviceaccounts", "system:serviceaccounts:ns", AUTHENTICATED)
    named = User(account.name, ("g",))
    allowed = ("impersonate serviceaccounts bot", "impersonate groups g")
    assert become(named, *allowed).groups == ("g", AUTHENTICATED)


def test_the_anonymous_user_is_not_authenticated() -> None:
    nobody = become(User("system:anonymous"), "impersonate users system:anonymous")
    assert nobody.groups == (UNAUTHENTICATED,)


def test_a_permission_may_be_narrowed_to_one_verb() -> None:
    narrow = ("impersonate-on:user-info:list pods", "impersonate:user-info users bob")
    assert become(User("bob"), *narrow).name == "bob"
    assert "cannot impersonate-on:user-info:list" in refusal(User("bob"), narrow[1])
    assert "cannot impersonate:user-info resource" in refusal(User("bob"), narrow[0])


def test_nobody_becomes_an_administrator_by_a_narrow_permission() -> None:
    text = refusal(
        User("bob", (MASTERS,)),
        "impersonate-on:user-info:list pods",
        "impersonate:user-info users bob",
        f"impersonate:user-info groups {MASTERS}",
    )
    assert text.endswith("impersonating the system:masters group is not allowed")


def test_the_permission_for_all_users_is_not_one_for_accounts_and_nodes() -> None:
    narrow = ("impersonate-on:user-info:list pods",)
    for name in ("system:serviceaccount:ns:bot", "system:node:n"):
        with pytest.raises(StatusError):
            become(User(name), *narrow, f"impersonate:user-info users {name}")


def test_a_pod_may_be_allowed_to_act_as_its_own_node_whichever_it_is() -> None:
    agent = User("system:serviceaccount:ns:agent", extra={NODE_NAME: ("n",)})
    allowed = ("impersonate-on:associated-node:list pods", "impersonate:associated-node nodes *")
    assert become(User("system:node:n"), *allowed, by=agent).groups == (
        "system:nodes",
        AUTHENTICATED,
    )
    with pytest.raises(StatusError):
        become(User("system:node:m"), *allowed, by=agent)


def test_the_first_refusal_is_told_and_what_worked_last_is_tried_first() -> None:
    allowed = Allowed("impersonate users bob")
    impersonation = Impersonation(allowed)
    with pytest.raises(StatusError, match="impersonate-on:user-info:list"):
        impersonation.impersonate(ANN, User("eve"), LIST_PODS)
    impersonation.impersonate(ANN, User("bob"), LIST_PODS)
    with pytest.raises(StatusError, match='cannot impersonate resource "users"'):
        impersonation.impersonate(ANN, User("eve"), LIST_PODS)


def test_narrow_permissions_are_of_the_group_of_authentication() -> None:
    seen: list[RequestInfo] = []
    Impersonation(lambda user, attributes: seen.append(attributes)).impersonate(
        ANN, User("bob", ("g",)), LIST_PODS
    )
    assert [attributes.group for attributes in seen] == ["", GROUP, GROUP]
