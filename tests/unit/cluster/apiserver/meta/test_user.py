from __future__ import annotations

import pytest

from quintant.cluster.apiserver.meta.user import (
    AUTHENTICATED,
    CREDENTIAL,
    MASTERS,
    StaticTokens,
    User,
    admin,
    bearer,
    certified,
    service_account,
)


def test_a_token_means_its_user() -> None:
    tokens = StaticTokens()
    tokens.add("secret", User("alice", ("team",)))
    assert tokens.find("secret") == User("alice", ("team", AUTHENTICATED))


def test_a_revoked_token_means_nobody() -> None:
    tokens = StaticTokens()
    tokens.add("secret", admin())
    tokens.revoke("secret")
    tokens.revoke("never-known")
    assert tokens.find("secret") is None


def test_a_token_appears_in_no_repr() -> None:
    tokens = StaticTokens()
    tokens.add("hush-hush", admin())
    assert "hush-hush" not in repr(vars(tokens))


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer secret", "secret"),
        ("bearer secret", "secret"),
        ("Bearer secret more", "secret"),
        ("Bearer", ""),
        ("Bearer ", ""),
        ("Bearer  secret", ""),
        ("Basic c2VjcmV0", ""),
        ("", ""),
    ],
)
def test_only_bearer_tokens_are_credentials(header: str, token: str) -> None:
    assert bearer({"authorization": header}) == token


def test_a_certificate_names_a_user_and_groups() -> None:
    subject = (
        (("organizationName", "crew"),),
        (("organizationName", MASTERS),),
        (("commonName", "ann"),),
    )
    user = certified({"subject": subject}, b"raw")
    assert user is not None
    assert (user.name, user.groups) == ("ann", ("crew", MASTERS, AUTHENTICATED))
    assert user.extra[CREDENTIAL][0].startswith("X509SHA256=")


def test_a_certificate_without_a_name_names_nobody() -> None:
    assert certified({"subject": ((("organizationName", MASTERS),),)}, b"raw") is None


def test_service_accounts_are_users_with_groups() -> None:
    user = service_account("ns", "bot")
    assert user.name == "system:serviceaccount:ns:bot"
    assert user.account == ("ns", "bot")
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:ns")
    assert admin().account is None


def test_documents_tell_of_a_user_only_what_there_is() -> None:
    assert User("ann").info == {"username": "ann"}
    full = User("ann", ("crew",), "u", {"k": ("v",)})
    assert full.info == {
        "username": "ann",
        "uid": "u",
        "groups": ["crew"],
        "extra": {"k": ["v"]},
    }
