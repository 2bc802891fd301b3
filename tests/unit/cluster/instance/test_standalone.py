"""A server alone, with keys that somebody else made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from quintant.cluster.instance.standalone import (
    self_signed,
    tls_context,
    trust_clients,
    verify_signing_keys,
)
from quintant.core.errors import ConfigError
from quintant.keys.authority import Authority, Validity, new_key, private_pem
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair
from unit.cluster.certificates import issue

NOW = datetime.now(UTC)


def test_a_public_key_may_be_in_a_certificate_or_the_key_itself() -> None:
    issued = issue("accounts")
    signing = private_pem(issued.key)
    form = (Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    verify_signing_keys(
        signing, [issued.pem, issued.key.public_key().public_bytes(*form), signing.reveal()]
    )


@pytest.mark.parametrize("text", [b"nonsense", private_pem(new_key()).reveal(), issue("a").pem])
def test_tokens_of_another_key_are_not_promised(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"no key in it|signing key alone"):
        verify_signing_keys(private_pem(new_key()), [text])


def test_a_certificate_of_ones_own_is_for_the_usual_names() -> None:
    made = self_signed("127.0.0.9", NOW)
    context = tls_context(made)
    trust_clients(context, Authority.make("a", Validity(NOW, NOW + timedelta(1))).certificate)
    assert made.certificate.reveal().count(b"BEGIN CERTIFICATE") == 2


def test_what_is_no_certificate_is_explained() -> None:
    nonsense = Sensitive(b"nonsense")
    with pytest.raises(ConfigError, match="cannot use the serving certificate"):
        tls_context(KeyPair(nonsense, nonsense))
    context = tls_context(self_signed("127.0.0.1", NOW))
    with pytest.raises(ConfigError, match="cannot use the authority of clients"):
        trust_clients(context, b"nonsense")
