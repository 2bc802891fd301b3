"""Promises of quintant.agents.apiclient.pod_account."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.agents.apiclient.errors import ApiUnreachable
from quintant.agents.apiclient.pod_account import TOKEN_SECONDS, PodAccount
from unit.agents.apiclient.pod_server import TOKEN, mount
from unit.client.pki import Authority

SERVER = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def account(folder: Path) -> PodAccount:
    return PodAccount.find({**SERVER, "QUINTANT_SERVICE_ACCOUNT": str(mount(folder))})


def test_account_is_where_the_node_says(tmp_path: Path) -> None:
    found = account(tmp_path / "account")
    assert (found.host, found.port, found.namespace) == ("10.0.0.1", 443, "yard")
    assert found.token(0) == TOKEN


def test_program_outside_of_a_pod_is_told(tmp_path: Path) -> None:
    with pytest.raises(ApiUnreachable, match="this is not a pod"):
        PodAccount.find({})
    with pytest.raises(ApiUnreachable, match="mounts no service account"):
        PodAccount.find({**SERVER, "QUINTANT_SERVICE_ACCOUNT": str(tmp_path)})


def test_token_is_read_again_before_it_runs_out(tmp_path: Path) -> None:
    found = account(tmp_path / "account")
    assert found.token(100) == TOKEN
    mount(tmp_path / "account", "second")
    assert found.token(100 + TOKEN_SECONDS - 1) == TOKEN
    assert found.token(100 + TOKEN_SECONDS) == "second"


def test_refused_token_is_read_again_at_once(tmp_path: Path) -> None:
    found = account(tmp_path / "account")
    assert found.token(0) == TOKEN
    assert not found.read_again(1)
    mount(tmp_path / "account", "second")
    assert found.read_again(2)
    assert found.token(2) == "second"


@pytest.mark.parametrize("broken", ["", "two words", "line\nbreak", "naïve"])
def test_file_without_a_token_leaves_the_last_one(tmp_path: Path, broken: str) -> None:
    found = account(tmp_path / "account")
    assert found.token(0) == TOKEN
    mount(tmp_path / "account", broken)
    assert not found.read_again(1)
    assert found.token(1) == TOKEN
    (tmp_path / "account" / "token").unlink()
    assert not found.read_again(2)


def test_first_token_must_be_one(tmp_path: Path) -> None:
    mount(tmp_path / "account", "two words")
    found = PodAccount("host", 1, str(tmp_path / "account"))
    with pytest.raises(ApiUnreachable, match="it holds no token") as raised:
        found.token(0)
    assert "two words" not in str(raised.value)


def test_authority_is_read_again_when_it_changed(tmp_path: Path) -> None:
    found = account(tmp_path / "account")
    first = found.tls()
    assert found.tls() is first
    (tmp_path / "account" / "ca.crt").write_bytes(Authority("another").pem)
    second = found.tls()
    assert second is not first
    (tmp_path / "account" / "ca.crt").write_text("half of a certificate")
    assert found.tls() is second


def test_mount_without_authority_trusts_the_system(tmp_path: Path) -> None:
    found = account(tmp_path / "account")
    (tmp_path / "account" / "ca.crt").unlink()
    assert found.tls().check_hostname
    (tmp_path / "account" / "ca.crt").write_text("nothing")
    other = PodAccount("host", 1, str(tmp_path / "account"))
    with pytest.raises(ApiUnreachable, match="holds no certificate"):
        other.tls()


def test_account_does_not_print_its_token(tmp_path: Path) -> None:
    found = account(tmp_path / "account")
    found.token(0)
    assert TOKEN not in repr(found)
