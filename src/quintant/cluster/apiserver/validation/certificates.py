"""ValidateCertificateSigningRequestCreate: requests, approvals and certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from quintant.cluster.apiserver.meta.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from quintant.cluster.apiserver.meta.names import (
    LABEL_LIMIT,
    SUBDOMAIN_LIMIT,
    dns1123_label_errors,
    dns1123_subdomain_errors,
)
from quintant.cluster.apiserver.meta.types import JsonObject, ValidationResult
from quintant.core.errors import Cause

APPROVED, DENIED, FAILED = "Approved", "Denied", "Failed"
LEGACY_UNKNOWN = "kubernetes.io/legacy-unknown"
LEAST_SECONDS = 600
USAGES = frozenset(
    {
        *("signing", "digital signature", "content commitment", "key encipherment"),
        *("key agreement", "data encipherment", "cert sign", "crl sign", "encipher only"),
        *("decipher only", "any", "server auth", "client auth", "code signing"),
        *("email protection", "s/mime", "ipsec end system", "ipsec tunnel", "ipsec user"),
        *("timestamping", "ocsp signing", "microsoft sgc", "netscape sgc"),
    }
)
_TRUE = ["True"]
_STATUSES = ["False", "True", "Unknown"]
_CONDITIONS = "status.conditions"
_CERTIFICATE = "status.certificate"


def validate_request(
    csr: JsonObject, live: JsonObject | None, sub: str, before: Sequence[Cause]
) -> ValidationResult:
    """What is wrong with a CertificateSigningRequest that is written through an endpoint."""
    causes = [*_spec(csr["spec"], live), *_conditions(csr, live), *_certificate(csr, live)]
    if live is not None:
        causes += [*_kept_conditions(csr, live, sub), *_kept_certificate(csr, live, sub)]
    return ValidationResult(causes)


def signer_name_errors(path: str, name: str) -> Iterator[Cause]:
    """What is wrong with the name of a signer."""
    if not name:
        yield required(path)
        return
    domain, _, rest = name.partition("/")
    if name.count("/") != 1:
        text = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        yield invalid(path, name, text)
        return
    if len(domain) > SUBDOMAIN_LIMIT:
        yield too_long(path, SUBDOMAIN_LIMIT)
    yield from _labels(path, domain, dns1123_label_errors)
    if "." not in domain:
        text = "should be a domain with at least two segments separated by dots"
        yield invalid(path, domain, text)
    yield from _labels(path, rest, dns1123_subdomain_errors)
    limit = 2 * SUBDOMAIN_LIMIT + LABEL_LIMIT + 2
    if len(name) > limit:
        yield too_long(path, limit)


def _labels(path: str, text: str, errors_of: Callable[[str], list[str]]) -> Iterator[Cause]:
    """The errors of the first label that has any."""
    wrong = next(filter(errors_of, text.split(".")), None)
    for error in [] if wrong is None else errors_of(wrong):
        yield invalid(path, text, f'validating label "{wrong}": {error}')


def _spec(spec: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    if live is None:
        yield from _request(spec.get("request") or "")
    usages, known = spec.get("usages") or [], sorted(USAGES)
    if not usages:
        yield required("spec.usages")
    for at, usage in enumerate(usages):
        if usage not in USAGES:
            yield not_supported(f"spec.usages[{at}]", usage, known)
    for at, usage in enumerate(usages):
        if usage in usages[:at]:
            yield duplicate(f"spec.usages[{at}]", usage)
    signer, seconds = spec.get("signerName") or "", spec.get("expirationSeconds")
    if signer == LEGACY_UNKNOWN:
        text = "the legacy signerName is not allowed via this API version"
        yield invalid("spec.signerName", signer, text)
    else:
        yield from signer_name_errors("spec.signerName", signer)
    if seconds is not None and seconds < LEAST_SECONDS:
        text = "may not specify a duration less than 600 seconds (10 minutes)"
        yield invalid("spec.expirationSeconds", seconds, text)


def _request(text: str) -> Iterator[Cause]:
    from quintant.cluster.apiserver.golang.x509_request import BadPem, check_request

    try:
        check_request(text)
    except BadPem as error:
        yield invalid("spec.request", text, str(error))


def _conditions(csr: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    types: list[str] = []
    for at, condition in enumerate(_listed(csr)):
        path, name = f"{_CONDITIONS}[{at}]", condition.get("type") or ""
        if not name:
            yield required(f"{path}.type")
        status = condition.get("status") or ""
        allowed = _TRUE if name in (APPROVED, DENIED, FAILED) else _STATUSES
        if not status:
            yield required(f"{path}.status")
        elif status not in allowed:
            yield not_supported(f"{path}.status", status, allowed)
        if {APPROVED: DENIED, DENIED: APPROVED}.get(name) in types:
            text = "Approved and Denied conditions are mutually exclusive"
            yield invalid(_CONDITIONS, name, text)
        if name in types:
            yield duplicate(f"{path}.type", name)
        types.append(name)


def _certificate(csr: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    text = _issued(csr)
    if not text or (live is not None and text == _issued(live)):
        return
    from quintant.cluster.apiserver.golang.x509_request import BadPem, check_certificates

    try:
        check_certificates(text)
    except BadPem as error:
        yield invalid(_CERTIFICATE, "<certificate data>", str(error))


def _kept_conditions(csr: JsonObject, live: JsonObject, sub: str) -> Iterator[Cause]:
    for name in (APPROVED, DENIED, FAILED):
        if len(_of_type(csr, name)) < len(_of_type(live, name)):
            yield forbidden(_CONDITIONS, f'updates may not remove a condition of type "{name}"')
    if sub == "approval":
        return
    for name in (APPROVED, DENIED):
        if len(_of_type(csr, name)) > len(_of_type(live, name)):
            yield forbidden(_CONDITIONS, f'updates may not add a condition of type "{name}"')


def _kept_certificate(csr: JsonObject, live: JsonObject, sub: str) -> Iterator[Cause]:
    if _issued(csr) == _issued(live):
        return
    if sub != "status":
        yield forbidden(_CERTIFICATE, "updates may not set certificate content")
    elif _issued(live):
        yield forbidden(_CERTIFICATE, "updates may not modify existing certificate content")


def _listed(csr: JsonObject) -> list[JsonObject]:
    return list((csr.get("status") or {}).get("conditions") or ())


def _of_type(csr: JsonObject, name: str) -> list[JsonObject]:
    return [each for each in _listed(csr) if each.get("type") == name]


def _issued(csr: JsonObject) -> str:
    return str((csr.get("status") or {}).get("certificate") or "")
