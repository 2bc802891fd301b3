"""CSRSigningController: the certificate of an approved request, or why it gets none.

`refusal` is pure. A certificate has the subject and the names of its request, the usages that were
asked for, and lives a year at most.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.x509.oid import NameOID

from quintant.api.kubernetes.certificates_v1 import (
    CertificateSigningRequest,
    CertificateSigningRequestCondition,
    CertificateSigningRequestStatus,
)
from quintant.core.object import Request
from quintant.keys.authority import Authority, Validity
from quintant.runtime.reconcile.context import KeyContext

LONGEST = timedelta(days=365)
SHORTEST = timedelta(minutes=10)
BACKDATE = timedelta(minutes=5)
"""Clocks differ: a certificate is valid from a little before it was made."""
SHORT = timedelta(hours=8)
"""Below it a lifetime is not shortened by what it is backdated."""
_NODES, _NODE = "system:nodes", "system:node:"
_SIGNATURE, _ENCIPHER = "digital signature", "key encipherment"
_SERVER, _CLIENT = "server auth", "client auth"


def refusal(
    request: x509.CertificateSigningRequest, signer: str, usages: Sequence[str]
) -> str | None:
    """Why a signer does not sign a request; None if it does."""
    return SIGNERS[signer](request, usages)


def validity(seconds: int | None, now: datetime) -> Validity:
    """How long the certificate of a request lives that asks for so many seconds, if it does."""
    asked_for = LONGEST if seconds is None else timedelta(seconds=seconds)
    life = min(max(asked_for, SHORTEST), LONGEST)
    return Validity(now - BACKDATE, now + (life if life < SHORT else life - BACKDATE))


@dataclass(frozen=True, slots=True)
class RequestSigner:
    """Signs what was approved."""

    authority: Authority

    async def __call__(self, request: Request, ctx: KeyContext) -> None:
        csr = await ctx.client.find(CertificateSigningRequest, request.name)
        if csr is not None and not csr.deleting and _is_due(csr):
            await ctx.client.set_status(csr, self._status(csr, ctx.clock.now()))

    def _status(
        self, csr: CertificateSigningRequest, now: datetime
    ) -> CertificateSigningRequestStatus:
        spec = csr.spec
        request = x509.load_pem_x509_csr(b64decode(spec.request))
        if why := refusal(request, spec.signer_name, spec.usages):
            failed = CertificateSigningRequestCondition(
                type="Failed", status="True", reason="SignerValidationFailure", message=why
            )
            return CertificateSigningRequestStatus(conditions=(failed,))
        term = validity(spec.expiration_seconds, now)
        pem = self.authority.sign_request(request, spec.usages, term)
        return CertificateSigningRequestStatus(certificate=b64encode(pem).decode())


def _is_due(csr: CertificateSigningRequest) -> bool:
    types = {each.type for each in csr.status.conditions if each.status == "True"}
    decided = "Approved" in types and not types & {"Denied", "Failed"}
    return decided and not csr.status.certificate and csr.spec.signer_name in SIGNERS


def _client(request: x509.CertificateSigningRequest, usages: Sequence[str]) -> str | None:
    for usage in usages:
        if usage not in (_SIGNATURE, _ENCIPHER, _CLIENT):
            return f"invalid usage for client certificate: {usage}"
    return (
        None if _CLIENT in usages else f"missing required usage for client certificate: {_CLIENT}"
    )


def _kubelet_client(request: x509.CertificateSigningRequest, usages: Sequence[str]) -> str | None:
    if _of(request, NameOID.ORGANIZATION_NAME) != [_NODES]:
        return f"subject organization is not {_NODES}"
    for sort, word in _SORTS.items():
        if any(isinstance(each, sort) for each in _names(request)):
            return f"{word} subjectAltNames are not allowed"
    return _node_name(request) or _usages(usages, _CLIENT)


def _kubelet_serving(request: x509.CertificateSigningRequest, usages: Sequence[str]) -> str | None:
    names = _names(request)
    if _of(request, NameOID.ORGANIZATION_NAME) != [_NODES]:
        return f"subject organization is not {_NODES}"
    if not any(isinstance(each, x509.DNSName | x509.IPAddress) for each in names):
        return "DNS or IP subjectAltName is required"
    for sort in (x509.RFC822Name, x509.UniformResourceIdentifier):
        if any(isinstance(each, sort) for each in names):
            return f"{_SORTS[sort]} subjectAltNames are not allowed"
    return _usages(usages, _SERVER) or _node_name(request)


def _usages(usages: Sequence[str], purpose: str) -> str | None:
    wanted = {_SIGNATURE, purpose}
    if set(usages) in (wanted, wanted | {_ENCIPHER}):
        return None
    return f"usages did not match [{' '.join(sorted(wanted | {_ENCIPHER}))}]"


def _node_name(request: x509.CertificateSigningRequest) -> str | None:
    common = _of(request, NameOID.COMMON_NAME)
    named = bool(common) and common[-1].startswith(_NODE)
    return None if named else f"subject common name does not begin with {_NODE}"


def _of(request: x509.CertificateSigningRequest, oid: x509.ObjectIdentifier) -> list[str]:
    return [str(each.value) for each in request.subject.get_attributes_for_oid(oid)]


def _names(request: x509.CertificateSigningRequest) -> list[x509.GeneralName]:
    try:
        found = request.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    return list(found.value)


_SORTS: Mapping[type[x509.GeneralName], str] = {
    x509.DNSName: "DNS",
    x509.RFC822Name: "Email",
    x509.IPAddress: "IP",
    x509.UniformResourceIdentifier: "URI",
}
SIGNERS: Mapping[str, Callable[[x509.CertificateSigningRequest, Sequence[str]], str | None]] = {
    "kubernetes.io/kube-apiserver-client": _client,
    "kubernetes.io/kube-apiserver-client-kubelet": _kubelet_client,
    "kubernetes.io/kubelet-serving": _kubelet_serving,
}
"""The signers that are served, with what each has against a request."""
