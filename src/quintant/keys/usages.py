"""Key usages by Kubernetes' words for them. This module imports `cryptography`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, ObjectIdentifier

_KEY: Mapping[str, str] = {
    "signing": "digital_signature",
    "digital signature": "digital_signature",
    "content commitment": "content_commitment",
    "key encipherment": "key_encipherment",
    "key agreement": "key_agreement",
    "data encipherment": "data_encipherment",
    "cert sign": "key_cert_sign",
    "crl sign": "crl_sign",
    "encipher only": "encipher_only",
    "decipher only": "decipher_only",
}
_EXTENDED: Mapping[str, ObjectIdentifier] = {
    "any": ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
    "server auth": ExtendedKeyUsageOID.SERVER_AUTH,
    "client auth": ExtendedKeyUsageOID.CLIENT_AUTH,
    "code signing": ExtendedKeyUsageOID.CODE_SIGNING,
    "email protection": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "s/mime": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "ipsec end system": ObjectIdentifier("1.3.6.1.5.5.7.3.5"),
    "ipsec tunnel": ObjectIdentifier("1.3.6.1.5.5.7.3.6"),
    "ipsec user": ObjectIdentifier("1.3.6.1.5.5.7.3.7"),
    "timestamping": ExtendedKeyUsageOID.TIME_STAMPING,
    "ocsp signing": ExtendedKeyUsageOID.OCSP_SIGNING,
    "microsoft sgc": ObjectIdentifier("1.3.6.1.4.1.311.10.3.3"),
    "netscape sgc": ObjectIdentifier("2.16.840.1.113730.4.1"),
}


def usage_extensions(usages: Sequence[str]) -> Iterator[tuple[x509.ExtensionType, bool]]:
    """The extensions that say what a key is for, each with whether it must be understood."""
    chosen = {_KEY[usage] for usage in usages if usage in _KEY}
    if chosen:
        yield x509.KeyUsage(**{name: name in chosen for name in set(_KEY.values())}), True
    extended = dict.fromkeys(_EXTENDED[usage] for usage in usages if usage in _EXTENDED)
    if extended:
        yield x509.ExtendedKeyUsage(list(extended)), False
