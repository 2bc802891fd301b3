from __future__ import annotations

import ipaddress
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from quintant.cluster.apiserver.meta.user import MASTERS
from quintant.cluster.instance.pki import NAMES, ClusterKeys, issue_certificates
from quintant.core.errors import ConfigError
from quintant.keys.tls import KeyPair

NOW = datetime.now(UTC)


def certificate(pair: KeyPair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pair.certificate.reveal())


def names(pair: KeyPair) -> set[str]:
    extension = certificate(pair).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    found = extension.value
    dns = set(found.get_values_for_type(x509.DNSName))
    return dns | {str(each) for each in found.get_values_for_type(x509.IPAddress)}


def test_the_server_is_known_by_every_name_people_expect() -> None:
    pki = issue_certificates(ClusterKeys.generate(NOW), ["192.0.2.7"], NOW)
    assert names(pki.serving) == {*NAMES, "192.0.2.7"}
    assert {"localhost", "127.0.0.1", "::1", "kubernetes.default.svc"} <= set(NAMES)
    assert ipaddress.ip_address("192.0.2.7")


def test_on_every_interface_the_server_is_known_by_its_machine_too() -> None:
    assert (
        len(names(issue_certificates(ClusterKeys.generate(NOW), ["0.0.0.0"], NOW).serving))
        == len(NAMES) + 1
    )


def test_the_administrator_is_a_master() -> None:
    subject = certificate(
        issue_certificates(ClusterKeys.generate(NOW), ["127.0.0.1"], NOW).admin
    ).subject
    assert [each.value for each in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)] == [
        MASTERS
    ]


def test_a_client_may_show_a_certificate_and_need_not() -> None:
    context = issue_certificates(ClusterKeys.generate(NOW), ["127.0.0.1"], NOW).context()
    assert context.verify_mode is ssl.CERT_OPTIONAL
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_kept_keys_are_for_their_owner_and_stay_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "pki"
    first, second = (
        ClusterKeys.load_or_generate(folder, NOW),
        ClusterKeys.load_or_generate(folder, NOW),
    )
    assert second.authority.certificate == first.authority.certificate
    assert second.signing == first.signing
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    client = certificate(issue_certificates(second, ["127.0.0.1"], NOW).admin)
    client.verify_directly_issued_by(x509.load_pem_x509_certificate(first.authority.certificate))


def test_spoilt_keys_are_explained(tmp_path: Path) -> None:
    ClusterKeys.load_or_generate(tmp_path, NOW)
    (tmp_path / "ca.key").write_text("nothing")
    with pytest.raises(ConfigError) as refused:
        ClusterKeys.load_or_generate(tmp_path, NOW)
    assert str(tmp_path) in refused.value.what
    assert refused.value.hint
