"""ValidateImmutableField, ValidateNonnegativeField: checks that many kinds share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.meta.field_errors import (
    invalid,
    invalid_each,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.names import (
    dns1123_subdomain_errors,
    label_value_errors,
    qualified_name_errors,
)
from quintant.core.errors import Cause

PORTS = range(1, 65536)
PROTOCOLS = ("SCTP", "TCP", "UDP")
PORT_NAME_LIMIT = 15
"""Letters of a port's name: what IANA allows for a service."""
KEY_LIMIT = 253
"""Characters of a key of data."""
IMMUTABLE = "field is immutable"

_NEGATIVE = "must be greater than or equal to 0"
_RANGE_TEXT = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_ADDRESS_TEXT = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_WHOLE = 100
_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_KEY_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
_PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")
_PATH_TEXT = r"Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')"
_PERCENT = re.compile(r"[0-9]+%")
_PERCENT_TEXT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def validate_range(path: str, value: int, allowed: range) -> Iterator[Cause]:
    if value not in allowed:
        text = f"must be between {allowed.start} and {allowed.stop - 1}, inclusive"
        yield invalid(path, value, text)


def validate_nonnegative(path: str, value: int | None) -> Iterator[Cause]:
    """A number that counts something."""
    if value is not None and value < 0:
        yield invalid(path, value, _NEGATIVE)


def validate_enum(path: str, value: Any, choices: Sequence[str]) -> Iterator[Cause]:
    if value not in choices:
        yield not_supported(path, value, choices)


def validate_required_name(
    path: str, name: Any, naming: Callable[[str], list[str]]
) -> Iterator[Cause]:
    """A name that has to be there and to follow a grammar."""
    if not name:
        yield required(path)
    else:
        yield from invalid_each(path, name, naming(name))


def validate_immutable(path: str, value: Any, before: Any) -> Iterator[Cause]:
    """What an update may not change."""
    if value != before:
        yield invalid(path, value, IMMUTABLE)


def validate_labels(path: str, labels: Mapping[str, Any] | None) -> Iterator[Cause]:
    """Keys and values of labels."""
    for key, value in (labels or {}).items():
        yield from invalid_each(path, key, qualified_name_errors(key))
        yield from invalid_each(path, value, label_value_errors(value))


def validate_ip(path: str, value: str) -> Iterator[Cause]:
    try:
        ip_address(value)
    except ValueError:
        yield invalid(path, value, _ADDRESS_TEXT)


def validate_quantity(path: str, amount: str, *, whole: bool = False) -> Iterator[Cause]:
    """An amount of something, which may have to be a whole number of it."""
    value = parse_quantity(amount)
    if value < 0:
        yield invalid(path, amount, _NEGATIVE)
    elif whole and value != value.to_integral_value():
        yield invalid(path, amount, "must be an integer")


def validate_cidr(path: str, value: str) -> Iterator[Cause]:
    """A range of addresses, which begins where it says."""
    found = parse_cidr(value)
    if found is None:
        yield invalid(path, value, _RANGE_TEXT)
    elif str(found.network_address) != value.partition("/")[0]:
        yield invalid(path, value, "must not have bits set beyond the prefix length")


def parse_cidr(text: str) -> IPv4Network | IPv6Network | None:
    """The addresses that a text means; None if it means none."""
    try:
        return ip_network(text, strict=False) if "/" in text else None
    except ValueError:
        return None


def validate_int_or_percent(path: str, value: int | str | None) -> Iterator[Cause]:
    """A number, or a share in percent."""
    if isinstance(value, str):
        if not _PERCENT.fullmatch(value):
            yield invalid(path, value, _PERCENT_TEXT)
    else:
        yield from validate_nonnegative(path, value)


def validate_data_key(path: str, key: str) -> Iterator[Cause]:
    """A key of the data of maps and secrets."""
    if len(key) > KEY_LIMIT:
        yield invalid(path, key, f"must be no more than {KEY_LIMIT} characters")
    if not _KEY.fullmatch(key):
        yield invalid(path, key, _KEY_TEXT)
    elif key in (".", ".."):
        yield invalid(path, key, f"must not be '{key}'")
    elif key.startswith(".."):
        yield invalid(path, key, "must not start with '..'")


def validate_at_most_whole(path: str, value: int | str) -> Iterator[Cause]:
    """A share is never more than the whole."""
    if isinstance(value, str) and _PERCENT.fullmatch(value) and int(value[:-1]) > _WHOLE:
        yield invalid(path, value, "must not be greater than 100%")


def int_or_percent_value(value: int | str) -> int:
    """The number of a number or a share; none of what is neither."""
    if isinstance(value, int):
        return value
    return int(value[:-1]) if _PERCENT.fullmatch(value) else 0


def validate_domain_path(path: str, value: str) -> Iterator[Cause]:
    """A name with the domain of who chose it in front."""
    host, _, rest = value.partition("/")
    if not value:
        yield required(path)
    elif not host or not rest:
        yield invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        yield from invalid_each(path, host, dns1123_subdomain_errors(host))
        if not _PATH.fullmatch(rest):
            yield invalid(path, rest, _PATH_TEXT)


def validate_port(path: str, value: int | str) -> Iterator[Cause]:
    """A port by its number or its name."""
    if isinstance(value, str):
        yield from validate_port_name(path, value)
    else:
        yield from validate_range(path, value, PORTS)


def validate_port_name(path: str, name: str) -> Iterator[Cause]:
    if len(name) > PORT_NAME_LIMIT:
        yield invalid(path, name, f"must be no more than {PORT_NAME_LIMIT} characters")
    if not re.fullmatch("[-a-z0-9]+", name):
        text = "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
        yield invalid(path, name, text)
    if not re.search("[a-z]", name):
        yield invalid(path, name, "must contain at least one letter (a-z)")
    if "--" in name:
        yield invalid(path, name, "must not contain consecutive hyphens")
    if name[:1] == "-" or name[-1:] == "-":
        yield invalid(path, name, "must not begin or end with a hyphen")
