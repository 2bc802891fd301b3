"""Approved requests are signed by the cluster's authority, as far as their signer allows it."""

from __future__ import annotations

from base64 import b64decode
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from quintant.cluster.controllers.certificates import signing
from quintant.cluster.controllers.certificates.signer import validity
from quintant.keys.authority import Authority, Validity
from unit.cluster.api import Api, JsonObject
from unit.cluster.certificates import certificate_request
from unit.cluster.controllers.running_controllers import controlled, until

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
CLIENT = "kubernetes.io/kube-apiserver-client"
KUBELET = f"{CLIENT}-kubelet"
SERVING = "kubernetes.io/kubelet-serving"
APPROVED = {"type": "Approved", "status": "True", "reason": "Test"}


def authority(days: float = 3650) -> Authority:
    return Authority.make("cluster", Validity(NOW - DAY, NOW + days * DAY))


async def decide(api: Api, condition: JsonObject = APPROVED, **spec: Any) -> None:
    """Ask for a certificate, and have it decided."""
    wanted = {
        "request": certificate_request("alice", "people"),
        "signerName": CLIENT,
        "usages": ["digital signature", "client auth"],
        **spec,
    }
    await api.create(REQUESTS, {"metadata": {"name": "a"}, "spec": wanted})
    await api.merge(f"{REQUESTS}/a/approval", {"status": {"conditions": [condition]}})


async def status(api: Api) -> JsonObject:
    found: JsonObject = (await api.get(f"{REQUESTS}/a"))["status"]
    return found


async def issued(api: Api) -> x509.Certificate:
    found = await until(lambda: status(api), lambda it: "certificate" in it)
    return x509.load_pem_x509_certificate(b64decode(found["certificate"]))


async def test_an_approved_client_gets_a_certificate_of_the_cluster() -> None:
    signer = authority()
    async with controlled(signing(signer)) as api:
        await decide(api)
        certificate = await issued(api)
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(signer.certificate))
    groups = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    assert [each.value for each in groups] == ["people"]
    usages = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    assert usages.digital_signature
    assert not usages.key_encipherment
    purposes = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(purposes) == [ExtendedKeyUsageOID.CLIENT_AUTH]
    assert isinstance(certificate.public_key(), ec.EllipticCurvePublicKey)


async def test_what_was_decided_stays_beside_the_certificate() -> None:
    async with controlled(signing(authority())) as api:
        await decide(api)
        await issued(api)
        (condition,) = (await status(api))["conditions"]
    assert condition["reason"] == "Test"


async def test_a_certificate_ends_with_its_authority() -> None:
    async with controlled(signing(authority(days=30))) as api:
        await decide(api)
        certificate = await issued(api)
    assert certificate.not_valid_after_utc <= NOW + 30 * DAY


@pytest.mark.parametrize(
    ("request_of", "signer", "usages", "why"),
    [
        (("a",), CLIENT, ["server auth"], "invalid usage for client certificate: server auth"),
        (
            *(("a",), CLIENT, ["digital signature"]),
            "missing required usage for client certificate: client auth",
        ),
        (
            *(("system:node:a",), KUBELET, ["client auth", "digital signature"]),
            "subject organization is not system:nodes",
        ),
        (
            *(("a", "system:nodes"), KUBELET, ["client auth", "digital signature"]),
            "subject common name does not begin with system:node:",
        ),
        (
            *(("system:node:a", "system:nodes"), KUBELET, ["client auth"]),
            "usages did not match [client auth digital signature key encipherment]",
        ),
        (
            *(("system:node:a", "system:nodes"), SERVING, ["server auth", "digital signature"]),
            "DNS or IP subjectAltName is required",
        ),
    ],
)
async def test_a_signer_says_why_it_does_not_sign(
    request_of: tuple[str, ...], signer: str, usages: list[str], why: str
) -> None:
    async with controlled(signing(authority())) as api:
        await decide(
            api, request=certificate_request(*request_of), signerName=signer, usages=usages
        )
        found = await until(lambda: status(api), lambda it: len(it["conditions"]) > 1)
    (failed,) = [each for each in found["conditions"] if each["type"] == "Failed"]
    assert (failed["reason"], failed["message"]) == ("SignerValidationFailure", why)
    assert "certificate" not in found


async def test_a_kubelet_gets_its_certificates() -> None:
    async with controlled(signing(authority())) as api:
        await decide(
            api,
            request=certificate_request("system:node:a", "system:nodes"),
            signerName=KUBELET,
        )
        assert (await issued(api)).subject.rfc4514_string() == "CN=system:node:a,O=system:nodes"


@pytest.mark.parametrize(
    ("condition", "signer"),
    [
        ({"type": "Denied", "status": "True", "reason": "Test"}, CLIENT),
        (APPROVED, "example.com/own"),
    ],
)
async def test_what_is_denied_or_for_others_is_left_alone(
    condition: JsonObject, signer: str
) -> None:
    async with controlled(signing(authority())) as api:
        await decide(api, condition, signerName=signer)
        await api.create(
            REQUESTS,
            {
                "metadata": {"name": "b"},
                "spec": {
                    "request": certificate_request("bob"),
                    "signerName": CLIENT,
                    "usages": ["client auth"],
                },
            },
        )
        await api.merge(f"{REQUESTS}/b/approval", {"status": {"conditions": [APPROVED]}})

        async def other() -> JsonObject:
            found: JsonObject = (await api.get(f"{REQUESTS}/b"))["status"]
            return found

        await until(other, lambda it: "certificate" in it)
        assert list(await status(api)) == ["conditions"]


@pytest.mark.parametrize(
    ("seconds", "life"),
    [
        (None, timedelta(days=365) - timedelta(minutes=5)),
        (600, timedelta(minutes=10)),
        (1, timedelta(minutes=10)),
        (3600, timedelta(hours=1)),
        (8 * 3600, timedelta(hours=8) - timedelta(minutes=5)),
        (10**9, timedelta(days=365) - timedelta(minutes=5)),
    ],
)
def test_a_life_is_as_long_as_asked_within_a_year(seconds: int | None, life: timedelta) -> None:
    term = validity(seconds, NOW)
    assert (NOW - term.since, term.until - NOW) == (timedelta(minutes=5), life)
