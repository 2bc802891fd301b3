"""x509.VerifyHostname: whether a certificate is for a name, by the rules of Go.

Alternative names alone count: an address matches addresses only, a wildcard is a whole first label,
and the common name is nothing but a hint in the refusal. This module imports `cryptography`: import
it where a certificate is at hand.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from cryptography import x509
from cryptography.x509.oid import NameOID

from quintant.cluster.apiserver.golang.x509_errors import UntrustedCertificate

MOST_NAMES = 100
"""Names that a refusal lists; of more, only their number is told."""
_LABEL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")

ExtensionT = TypeVar("ExtensionT", bound=x509.ExtensionType)
IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


def verify_hostname(certificate: x509.Certificate, name: str) -> None:
    """UntrustedCertificate unless a certificate is for a host or an address."""
    names = alternative_names(certificate)
    address = _address(name)
    if address is not None:
        if address not in _addresses(names):
            raise UntrustedCertificate(_no_match(certificate, names, name, address))
    elif not any(_matches(pattern, name) for pattern in _hosts(names)):
        raise UntrustedCertificate(_no_match(certificate, names, name, None))


def verify_constraints(leaf: x509.Certificate, above: Sequence[x509.Certificate]) -> None:
    """UntrustedCertificate if an authority may not sign for a name of what is below it."""
    for at, authority in enumerate(above):
        limits = extension(authority, x509.NameConstraints)
        if limits is None:
            continue
        for below in (leaf, *above[:at]):
            for name in alternative_names(below) or ():
                _check_name(name, limits)


def alternative_names(certificate: x509.Certificate) -> x509.SubjectAlternativeName | None:
    return extension(certificate, x509.SubjectAlternativeName)


def extension(certificate: x509.Certificate, sort: type[ExtensionT]) -> ExtensionT | None:
    """An extension of a certificate, if it has it."""
    try:
        return certificate.extensions.get_extension_for_class(sort).value
    except x509.ExtensionNotFound:
        return None


def common_name(certificate: x509.Certificate) -> str:
    found = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[0].value) if found else ""


def _address(name: str) -> IpAddress | None:
    try:
        return ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def _hosts(names: x509.SubjectAlternativeName | None) -> list[str]:
    return [] if names is None else names.get_values_for_type(x509.DNSName)


def _addresses(names: x509.SubjectAlternativeName | None) -> list[IpAddress]:
    found = [] if names is None else names.get_values_for_type(x509.IPAddress)
    return [each for each in found if isinstance(each, IpAddress)]


def _matches(pattern: str, name: str) -> bool:
    if not (_is_host(name.removesuffix(".")) and _is_host(pattern, pattern=True)):
        return pattern.lower() == name.lower() != ""
    return _same_labels(pattern, name)


def _same_labels(pattern: str, name: str) -> bool:
    wanted = pattern.lower().split(".")
    found = name.lower().removesuffix(".").split(".")
    first = wanted[0] in ("*", found[0])
    return bool(pattern) and first and wanted[1:] == found[1:]


def _is_host(name: str, *, pattern: bool = False) -> bool:
    labels = name.split(".")
    if pattern and len(labels) > 1 and labels[0] == "*":
        labels = labels[1:]
    return all(map(_LABEL.fullmatch, labels))


def _no_match(
    certificate: x509.Certificate,
    names: x509.SubjectAlternativeName | None,
    name: str,
    address: IpAddress | None,
) -> str:
    if names is None and _same_labels(common_name(certificate), name):
        return "certificate relies on legacy Common Name field, use SANs instead"
    found = list(map(str, _hosts(names) if address is None else _addresses(names)))
    if address is not None and not found:
        return f"cannot validate certificate for {name} because it doesn't contain any IP SANs"
    if not found:
        return f"certificate is not valid for any names, but wanted to match {name}"
    if len(found) >= MOST_NAMES:
        what = "names" if address is None else "IP SANs"
        return f"certificate is valid for {len(found)} {what}, but none matched {name}"
    return f"certificate is valid for {', '.join(found)}, not {name}"


def _check_name(name: x509.GeneralName, limits: x509.NameConstraints) -> None:
    """Names of sorts that no webhook has are refused where anything is limited at all."""
    text = f'{_SORTS.get(type(name), "name")} "{name.value}"'
    permitted = [each for each in limits.permitted_subtrees or () if type(each) is type(name)]
    excluded = [each for each in limits.excluded_subtrees or () if type(each) is type(name)]
    if type(name) not in _SORTS or (permitted and not any(_within(name, permitted))):
        raise UntrustedCertificate(f"{_NOT_FOR}: {text} is not permitted by any constraint")
    if found := next(_within(name, excluded), None):
        raise UntrustedCertificate(f'{_NOT_FOR}: {text} is excluded by constraint "{found.value}"')


def _within(
    name: x509.GeneralName, trees: Sequence[x509.GeneralName]
) -> Iterator[x509.GeneralName]:
    """The subtrees that a name is in."""
    for tree in trees:
        if isinstance(tree.value, IpNetwork):
            inside = name.value in tree.value
        else:
            inside = _below(str(name.value).lower(), str(tree.value).lower())
        if inside:
            yield tree


def _below(name: str, domain: str) -> bool:
    bare = domain.removeprefix(".")
    return not domain or name == domain or name.endswith(f".{bare}")


_NOT_FOR = "a root or intermediate certificate is not authorized to sign for this name"
_SORTS = {x509.DNSName: "DNS name", x509.IPAddress: "IP address"}
