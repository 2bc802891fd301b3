from __future__ import annotations

import pytest

from quintant.cluster.auth import (
    ANONYMOUS,
    AUTHENTICATED,
    Tokens,
    User,
    admin,
    impersonated,
    service_account,
)
from quintant.cluster.problems import Problem


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_a_token_means_its_user() -> None:
    tokens = Tokens()
    tokens.add("secret", User("alice", frozenset({"team"})))
    assert tokens.authenticate(bearer("secret")) == User(
        "alice", frozenset({"team", AUTHENTICATED})
    )


def test_without_credentials_one_is_anonymous() -> None:
    assert Tokens().authenticate({}) == ANONYMOUS


@pytest.mark.parametrize("header", ["Bearer wrong", "Basic c2VjcmV0", "Bearer", "Bearer "])
def test_wrong_credentials_are_worse_than_none(header: str) -> None:
    tokens = Tokens()
    tokens.add("secret", admin())
    with pytest.raises(Problem) as refused:
        tokens.authenticate({"authorization": header})
    assert (refused.value.code, refused.value.message) == (401, "Unauthorized")


def test_a_revoked_token_is_wrong() -> None:
    tokens = Tokens()
    tokens.add("secret", admin())
    tokens.revoke("secret")
    tokens.revoke("never-known")
    with pytest.raises(Problem):
        tokens.authenticate(bearer("secret"))


def test_a_token_appears_in_no_repr() -> None:
    tokens = Tokens()
    tokens.add("hush-hush", admin())
    assert "hush-hush" not in repr(vars(tokens))


def test_service_accounts_are_users_with_groups() -> None:
    user = service_account("ns", "bot")
    assert user.name == "system:serviceaccount:ns:bot"
    assert user.account == ("ns", "bot")
    assert user.groups == {"system:serviceaccounts", "system:serviceaccounts:ns"}
    assert admin().account is None


def test_a_request_may_ask_to_be_taken_for_somebody_else() -> None:
    assert impersonated({}) is None
    asked = {"impersonate-user": "bob", "impersonate-group": "a,b"}
    assert impersonated(asked) == User("bob", frozenset({"a", "b", AUTHENTICATED}))
    account = impersonated({"impersonate-user": "system:serviceaccount:ns:bot"})
    assert account is not None
    assert "system:serviceaccounts:ns" in account.groups


def test_groups_without_a_user_make_no_sense() -> None:
    with pytest.raises(Problem) as refused:
        impersonated({"impersonate-group": "a"})
    assert refused.value.code == 400
