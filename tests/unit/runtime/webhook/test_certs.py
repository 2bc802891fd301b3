from __future__ import annotations

import asyncio
import os
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from quintant.core.errors import ConfigError, ConnectError
from quintant.keys.tls import KeyPair
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.webhook.authority import IssuedCertificate, issue_certificate
from quintant.runtime.webhook.certs import POLL_SECONDS, CertificateWatcher, MountedCertificates
from quintant.testing.loop import advance

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def write(directory: Path, issued: IssuedCertificate) -> None:
    """Replace both files the way a mounted Secret is: all at once, through a link."""
    version = directory / f"..{len(list(directory.iterdir()))}"
    version.mkdir()
    (version / "tls.crt").write_bytes(issued.pair.certificate.reveal())
    (version / "tls.key").write_bytes(issued.pair.key.reveal())
    link = directory / "..new"
    link.symlink_to(version.name)
    os.replace(link, directory / "..data")
    for name in ("tls.crt", "tls.key"):
        if not (directory / name).is_symlink():
            (directory / name).symlink_to(f"..data/{name}")


def presented(context: ssl.SSLContext, trusted: IssuedCertificate) -> bytes:
    """The certificate that a handshake in memory shows to a client that trusts its authority."""
    client = ssl.create_default_context(cadata=trusted.authority.decode())
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(back, there, server_hostname="localhost")
    answering = context.wrap_bio(there, back, server_side=True)
    for side in (asking, answering) * 3:
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    shown = asking.getpeercert(binary_form=True)
    assert shown is not None
    return shown


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def count(metrics: Metrics, name: str) -> float | None:
    return metrics.registry.value(f"certwatcher_read_certificate_{name}")


def fresh() -> IssuedCertificate:
    return issue_certificate(["localhost"], datetime.now(UTC))


async def test_a_new_handshake_gets_the_new_certificate(tmp_path: Path, metrics: Metrics) -> None:
    old, new = fresh(), fresh()
    write(tmp_path, old)
    certificates = CertificateWatcher(MountedCertificates.mounted(tmp_path), metrics)
    await certificates.load()
    before = presented(certificates.context, old)

    keeping = asyncio.create_task(certificates.run())
    write(tmp_path, new)
    await advance(POLL_SECONDS)
    assert presented(certificates.context, new) != before
    with pytest.raises(ssl.SSLCertVerificationError):
        presented(certificates.context, old)
    keeping.cancel()
    assert (count(metrics, "total"), count(metrics, "errors_total")) == (2, 0)


async def test_files_that_stay_are_read_once(tmp_path: Path, metrics: Metrics) -> None:
    write(tmp_path, fresh())
    certificates = CertificateWatcher(MountedCertificates.mounted(tmp_path), metrics)
    await certificates.load()
    keeping = asyncio.create_task(certificates.run())
    await advance(3600)
    keeping.cancel()
    assert count(metrics, "total") == 1


async def test_a_half_replaced_pair_never_takes_the_place_of_one_that_works(
    tmp_path: Path, metrics: Metrics
) -> None:
    old, new = fresh(), fresh()
    write(tmp_path, old)
    certificates = CertificateWatcher(MountedCertificates.mounted(tmp_path), metrics)
    await certificates.load()
    keeping = asyncio.create_task(certificates.run())

    (tmp_path / "tls.crt").unlink()
    await advance(POLL_SECONDS)
    (tmp_path / "tls.crt").write_bytes(new.pair.certificate.reveal())
    await advance(POLL_SECONDS)
    assert presented(certificates.context, old)
    assert count(metrics, "errors_total") == 2

    (tmp_path / "tls.key").unlink()
    (tmp_path / "tls.key").write_bytes(new.pair.key.reveal())
    await advance(POLL_SECONDS)
    assert presented(certificates.context, new)
    keeping.cancel()


async def test_a_server_does_not_start_without_its_files(tmp_path: Path, metrics: Metrics) -> None:
    certificates = CertificateWatcher(MountedCertificates.mounted(tmp_path), metrics)
    with pytest.raises(ConfigError, match=r"No such file or directory: .*tls.crt"):
        await certificates.load()
    assert count(metrics, "errors_total") == 1


async def test_a_server_does_not_start_with_garbage(tmp_path: Path, metrics: Metrics) -> None:
    certificate, key = tmp_path / "a.pem", tmp_path / "b.pem"
    certificate.write_text("garbage")
    key.write_text("-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n")
    with pytest.raises(ConfigError) as refused:
        await CertificateWatcher(MountedCertificates(certificate, key), metrics).load()
    assert "hunter2" not in str(refused.value)


async def test_a_source_that_cannot_publish_is_asked_again(metrics: Metrics) -> None:
    issued = fresh()

    class Source:
        """Fails once after its first answer."""

        def __init__(self) -> None:
            self.polls = 0

        async def poll(self) -> KeyPair | None:
            self.polls += 1
            if self.polls == 2:
                raise ConnectError("the API server is away")
            return issued.pair if self.polls == 1 else None

    source = Source()
    certificates = CertificateWatcher(source, metrics)
    await certificates.load()
    keeping = asyncio.create_task(certificates.run())
    await advance(2 * POLL_SECONDS)
    keeping.cancel()
    assert source.polls >= 3
    assert count(metrics, "errors_total") == 1
    assert presented(certificates.context, issued)
