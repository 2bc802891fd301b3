from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from quintant.agents.relay.certificates import LIFE, ServedCertificate, ensure

NOW = datetime.now(UTC)


def handshake(folder: Path, name: str) -> str:
    """What goes wrong when a client that trusts the folder's authority connects; "" if nothing."""
    client = ssl.create_default_context(cafile=folder / "ca.crt")
    server = ServedCertificate(folder / "tls.crt", folder / "tls.key").context
    pipes = [ssl.MemoryBIO() for _ in range(4)]
    one = client.wrap_bio(pipes[0], pipes[1], server_hostname=name)
    other = server.wrap_bio(pipes[2], pipes[3], server_side=True)
    for _ in range(4):
        for side, out, into in ((one, pipes[1], pipes[2]), (other, pipes[3], pipes[0])):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLCertVerificationError as error:
                return error.verify_message
            into.write(out.read())
    return ""


def test_a_new_authority_is_believed_for_the_domain_and_all_below(tmp_path: Path) -> None:
    ensure(tmp_path / "new", ["relay.localhost"], NOW)
    assert handshake(tmp_path / "new", "relay.localhost") == ""
    assert handshake(tmp_path / "new", "hello.relay.localhost") == ""
    assert "mismatch" in handshake(tmp_path / "new", "elsewhere.localhost")


def test_keys_are_nobody_elses(tmp_path: Path) -> None:
    ensure(tmp_path, ["relay.localhost"], NOW)
    for name in ("ca.key", "tls.key"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0


def test_what_is_good_is_kept_and_what_is_not_is_made_anew(tmp_path: Path) -> None:
    certificate, _ = ensure(tmp_path, ["relay.localhost"], NOW)
    first, authority = certificate.read_bytes(), (tmp_path / "ca.crt").read_bytes()
    ensure(tmp_path, ["relay.localhost"], NOW)
    assert certificate.read_bytes() == first
    ensure(tmp_path, ["other.localhost"], NOW)
    second = certificate.read_bytes()
    assert second != first
    ensure(tmp_path, ["other.localhost"], NOW + LIFE - timedelta(days=1))
    assert certificate.read_bytes() != second
    assert (tmp_path / "ca.crt").read_bytes() == authority


def test_a_changed_certificate_is_served_and_a_broken_one_is_not(tmp_path: Path) -> None:
    certificate, key = ensure(tmp_path, ["relay.localhost"], NOW)
    served = ServedCertificate(certificate, key)
    assert served.reload() == ""
    certificate.write_text("nonsense")
    assert served.reload()
    certificate.unlink()
    assert served.reload()
