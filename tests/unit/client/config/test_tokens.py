"""Promises of quintant.client.config.tokens."""

from __future__ import annotations

import os
from base64 import b64encode
from pathlib import Path

import pytest
from msgspec.structs import replace

from quintant.client.config.config import Config
from quintant.client.config.credentials import Credential, CredentialProvider, StaticCredential
from quintant.client.config.exec_plugin import ExecPluginCredential
from quintant.client.config.tls import Pem
from quintant.client.config.tokens import (
    CertificateFilesCredential,
    TokenFileCredential,
    credential_provider,
)
from quintant.client.config.user import AuthInfo, Plugin
from quintant.core.clock import LoopClock, monotonic
from quintant.core.errors import ConfigError, NoCredentials
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair
from quintant.testing.loop import advance
from unit.client.pki import Authority

AUTHORITY = Authority()


def config(**user: object) -> Config:
    return Config("https://api.test", user=replace(AuthInfo(), **user))


def write(path: Path, text: bytes | str) -> None:
    """Rewrite a file as the kubelet does: another file under the same name."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(text if isinstance(text, bytes) else text.encode())
    fresh.replace(path)


def written(path: Path, pair: KeyPair) -> tuple[Pem, Pem]:
    certificate, key = path / "tls.crt", path / "tls.key"
    write(certificate, pair.certificate.reveal())
    write(key, pair.key.reveal())
    return Pem("client-certificate", path=certificate), Pem("client-key", path=key)


async def header(credentials: CredentialProvider) -> str:
    return (await credentials.credential()).headers.get("authorization", "")


async def test_nobody_shows_nothing() -> None:
    nobody = credential_provider(config(), LoopClock())
    assert await nobody.credential() == Credential()
    assert not nobody.invalidate(monotonic())


async def test_token_is_shown_and_refusing_it_changes_nothing() -> None:
    source = credential_provider(config(token=Sensitive("t0k3n\n")), LoopClock())
    assert await header(source) == "Bearer t0k3n"
    assert not source.invalidate(monotonic())


async def test_password_is_shown_as_basic_authentication() -> None:
    source = credential_provider(config(username="jo", password=Sensitive("sésame")), LoopClock())
    assert await header(source) == "Basic " + b64encode("jo:sésame".encode()).decode()


def test_plugin_is_used_when_the_user_has_one() -> None:
    plugin = Plugin("login", "client.authentication.k8s.io/v1")
    assert isinstance(credential_provider(config(plugin=plugin), LoopClock()), ExecPluginCredential)


@pytest.mark.parametrize("token", ["ses\name", "sésame", "ses ame"])
def test_token_that_no_header_can_hold_is_refused_unseen(token: str) -> None:
    with pytest.raises(ConfigError, match="one word of printable ASCII") as caught:
        credential_provider(config(token=Sensitive(token)), LoopClock())
    assert token not in str(caught.value)


async def test_token_file_comes_before_a_token(tmp_path: Path) -> None:
    write(tmp_path / "token", "fresh")
    user = config(token=Sensitive("stale"), token_file=tmp_path / "token")
    assert await header(credential_provider(user, LoopClock())) == "Bearer fresh"


async def test_rotated_token_file_is_read_within_a_minute(tmp_path: Path) -> None:
    path = tmp_path / "token"
    write(path, "one")
    source = TokenFileCredential(path)
    assert await header(source) == "Bearer one"
    write(path, "two")
    await advance(59)
    assert await header(source) == "Bearer one"
    await advance(1)
    assert await header(source) == "Bearer two"


async def test_unchanged_token_file_keeps_its_proof(tmp_path: Path) -> None:
    write(tmp_path / "token", "one")
    source = TokenFileCredential(tmp_path / "token")
    before = await source.credential()
    await advance(61)
    assert await source.credential() is before


async def test_refusal_makes_the_token_file_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "token"
    write(path, "one")
    source = TokenFileCredential(path)
    await source.credential()
    await advance(1)
    assert not source.invalidate(monotonic()), "the same token would be refused again"
    write(path, "two")
    await advance(1)
    assert source.invalidate(monotonic())
    assert await header(source) == "Bearer two"


async def test_refusal_of_an_older_token_does_not_read_the_file_again(tmp_path: Path) -> None:
    path = tmp_path / "token"
    write(path, "one")
    source = TokenFileCredential(path)
    began = monotonic()
    await advance(1)
    assert await header(source) == "Bearer one"
    write(path, "two")
    assert source.invalidate(began), "the token read since then may do"
    assert await header(source) == "Bearer one"


async def test_file_rewritten_within_its_clock_tick_is_noticed_on_refusal(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one")
    os.utime(path, ns=(0, 0))
    source = TokenFileCredential(path)
    await source.credential()
    path.write_text("two")
    os.utime(path, ns=(0, 0))
    await advance(61)
    assert await header(source) == "Bearer one"
    await advance(1)
    assert source.invalidate(monotonic())
    assert await header(source) == "Bearer two"


async def test_token_file_that_vanished_leaves_the_last_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    write(path, "one")
    source = TokenFileCredential(path)
    await source.credential()
    path.unlink()
    await advance(61)
    assert await header(source) == "Bearer one"


async def test_missing_or_empty_token_file_is_named(tmp_path: Path) -> None:
    source = TokenFileCredential(tmp_path / "token")
    with pytest.raises(NoCredentials, match="No such file"):
        await source.credential()
    assert source.invalidate(monotonic())
    write(tmp_path / "token", "\n")
    with pytest.raises(NoCredentials, match="cannot use token file"):
        await source.credential()


async def test_day_of_rotations_costs_at_most_one_refusal_each(tmp_path: Path) -> None:
    path = tmp_path / "token"
    source = TokenFileCredential(path)
    rotations, refusals, failures = 0, 0, 0
    for minute in range(24 * 60):
        if minute % 5 == 0:
            rotations += 1
            write(path, f"token-{rotations}")
        await advance(30)
        for _ in range(2):
            began = monotonic()
            if await header(source) == f"Bearer token-{rotations}":
                continue
            refusals += 1
            source.invalidate(began)
            failures += await header(source) != f"Bearer token-{rotations}"
            await advance(1)
    assert failures == 0
    assert refusals <= rotations == 288


async def test_certificate_is_shown_beside_a_token(tmp_path: Path) -> None:
    pair = AUTHORITY.issue("jo")
    certificate, key = written(tmp_path, pair)
    user = config(token=Sensitive("t"), certificate=certificate, key=key)
    credential = await credential_provider(user, LoopClock()).credential()
    assert credential.headers == {"authorization": "Bearer t"}
    assert credential.pair == pair


async def test_inline_certificate_is_the_same_pair_each_time() -> None:
    pair = AUTHORITY.issue("jo")
    source = CertificateFilesCredential(
        StaticCredential(), Pem("c", pair.certificate), Pem("k", pair.key)
    )
    before = await source.credential()
    await advance(11)
    assert await source.credential() is before
    assert not source.invalidate(monotonic())


async def test_renewed_certificate_is_loaded_once_both_halves_are_there(tmp_path: Path) -> None:
    old, new = AUTHORITY.issue("jo"), AUTHORITY.issue("jo")
    source = CertificateFilesCredential(StaticCredential(), *written(tmp_path, old))
    before = await source.credential()
    write(tmp_path / "tls.crt", new.certificate.reveal())
    await advance(10)
    assert await source.credential() is before, "certificate and key do not belong together yet"
    write(tmp_path / "tls.key", new.key.reveal())
    await advance(9)
    assert await source.credential() is before, "files are looked at every ten seconds"
    await advance(1)
    assert (await source.credential()).pair == new


async def test_refusal_makes_certificate_files_be_looked_at_at_once(tmp_path: Path) -> None:
    source = CertificateFilesCredential(
        StaticCredential(), *written(tmp_path, AUTHORITY.issue("jo"))
    )
    await source.credential()
    await advance(1)
    assert not source.invalidate(monotonic())
    new = AUTHORITY.issue("jo")
    written(tmp_path, new)
    assert source.invalidate(monotonic())
    assert (await source.credential()).pair == new


async def test_certificate_files_that_vanish_leave_the_last_pair(tmp_path: Path) -> None:
    source = CertificateFilesCredential(
        StaticCredential(), *written(tmp_path, AUTHORITY.issue("jo"))
    )
    before = await source.credential()
    (tmp_path / "tls.crt").unlink()
    await advance(11)
    assert await source.credential() is before


def test_certificate_that_cannot_be_used_is_refused_at_the_start(tmp_path: Path) -> None:
    certificate, key = written(tmp_path, AUTHORITY.issue("jo"))
    with pytest.raises(ConfigError, match="cannot read client-key"):
        CertificateFilesCredential(
            StaticCredential(), certificate, Pem("client-key", path=tmp_path / "gone")
        )
    other = Pem("client-key", AUTHORITY.issue("jo").key)
    with pytest.raises(ConfigError, match="cannot use the client certificate"):
        CertificateFilesCredential(StaticCredential(), certificate, other)
    assert key.read()
