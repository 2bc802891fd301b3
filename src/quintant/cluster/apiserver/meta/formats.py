"""strfmt.Registry: string formats that schemas may name, and what each accepts.

The names are a real server's; a format that is not here says nothing about a value. Dashes in a
name do not count: `date-time` is `datetime`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from quintant.cluster.apiserver.golang import regexp
from quintant.cluster.apiserver.golang.url import BadUrl, parse_request
from quintant.cluster.apiserver.meta.names import dns1123_label_errors, dns1123_subdomain_errors

Check = Callable[[str], bool]

HOSTNAME_LIMIT = 255
LABEL_LIMIT = 63
INTEGERS = frozenset({"int32", "int64"})
NUMBERS = frozenset({"float", "double"})

_LETTER = r"a-zA-Z0-9\p{S}\p{L}"
_HOSTNAME = (
    rf"^([{_LETTER}]((-?[{_LETTER}]{{0,62}})?)"
    rf"|([{_LETTER}](([{_LETTER}-]{{0,61}}[{_LETTER}])?)(\.)){{1,}}([a-zA-Z\p{{L}}]){{2,63}})$"
)
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-]+"
_LOCAL = rf'({_ATOM}(\.{_ATOM})*|"([^"\\]|\\.)*")'
_EMAIL = rf"{_LOCAL}@({_ATOM}(\.{_ATOM})*|\[[^\[\]\\]*\])"
_DIGITS = re.compile(r"[0-9]+")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})")
_GO_DURATION = re.compile(r"[+-]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_LOOSE_DURATION = re.compile(r"([0-9]+)\s*([A-Za-zµ]+)")
_SECOND = 10**9
_UNITS = {
    ("ns", "nano"): 1,
    ("us", "µs", "micro"): 10**3,
    ("ms", "milli"): 10**6,
    ("s", "sec"): _SECOND,
    ("m", "min"): 60 * _SECOND,
    ("h", "hr", "hour"): 3600 * _SECOND,
    ("d", "day"): 86_400 * _SECOND,
    ("w", "wk", "week"): 7 * 86_400 * _SECOND,
}
_MOST = 2**63 - 1
_LONG = 20
"""Digits of which no more need to be read to know that a number does not fit."""
_MAC_GROUPS = {":": 2, "-": 2, ".": 4}
_MAC_DIGITS = (12, 16, 40)
_OCTET = "(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])"
_CARD = re.compile(
    "4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    "|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11}"
)


def find(schema_type: str, name: str) -> Check | None:
    """The check of a string format; None if the name means nothing for strings."""
    return _CHECKS.get(_normal(name)) if schema_type in ("", "string") else None


def recognized(schema_type: str, name: str) -> bool:
    """Whether a format means something for values of a type."""
    match schema_type:
        case "" | "string":
            return _normal(name) in _CHECKS
        case "integer":
            return name in INTEGERS
        case "number":
            return name in NUMBERS
    return False


def address(text: str) -> IPv4Address | IPv6Address | None:
    """An address, leading zeros allowed; None if it is none."""
    try:
        if ":" in text:
            return IPv6Address(text)
        return IPv4Address(".".join(part.lstrip("0") or part[-1:] for part in text.split(".")))
    except AddressValueError:
        return None


def _normal(name: str) -> str:
    return name.replace("-", "")


def _regex(pattern: str, flags: int = 0) -> Check:
    # Compiled, and kept, by `re` when the first value comes: most formats are never met.
    return lambda text: re.fullmatch(pattern, text, flags | re.ASCII) is not None


def _uri(text: str) -> bool:
    try:
        parse_request(text)
    except BadUrl:
        return False
    return True


def _email(text: str) -> bool:
    _, bracket, rest = text.strip().rpartition("<")
    address = rest.removesuffix(">") if bracket and rest.endswith(">") else text.strip()
    return re.fullmatch(_EMAIL, address) is not None


def _hostname(text: str) -> bool:
    sized = len(text.encode()) <= HOSTNAME_LIMIT
    labels = all(len(part.encode()) <= LABEL_LIMIT for part in text.split("."))
    return sized and labels and regexp.matcher(_HOSTNAME)(text)


def _ipv4(text: str) -> bool:
    return "." in text and "%" not in text and address(text) is not None


def _ipv6(text: str) -> bool:
    return ":" in text and "%" not in text and address(text) is not None


def _cidr(text: str) -> bool:
    first, slash, bits = text.partition("/")
    found = address(first) if "%" not in text else None
    if found is None or not slash or not re.fullmatch("[0-9]{1,3}", bits):
        return False
    return int(bits) <= found.max_prefixlen


def _mac(text: str) -> bool:
    for separator, size in _MAC_GROUPS.items():
        groups = text.split(separator)
        if len(groups) > 1 and all(re.fullmatch(f"[0-9a-fA-F]{{{size}}}", g) for g in groups):
            return sum(map(len, groups)) in _MAC_DIGITS
    return False


def _isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch("[0-9]{9}[0-9X]", digits):
        return False
    values = [10 if char == "X" else int(char) for char in digits]
    return sum((at + 1) * value for at, value in enumerate(values)) % 11 == 0


def _isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch("[0-9]{13}", digits):
        return False
    return sum(int(char) * (3 if at % 2 else 1) for at, char in enumerate(digits)) % 10 == 0


def _isbn(text: str) -> bool:
    return _isbn10(text) or _isbn13(text)


def _card(text: str) -> bool:
    digits = "".join(_DIGITS.findall(text))
    if not _CARD.fullmatch(digits):
        return False
    doubled = (int(char) * (1 + at % 2) for at, char in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _date(text: str) -> bool:
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    year, month, day = (int(part) for part in text.split("-"))
    try:
        # Go knows the year 0, a leap year like 2000; Python does not.
        date(year or 2000, month, day)
    except ValueError:
        return False
    return True


def _datetime(text: str) -> bool:
    day, *rest = text.lower().split("t")
    if not rest or not _date(day):
        return False
    clock = _TIME.fullmatch(rest[0])
    return clock is not None and clock[1] <= "23" and clock[2] <= "59" and clock[3] <= "59"


def _duration(text: str) -> bool:
    return bool(_GO_DURATION.fullmatch(text)) or loose_duration(text) is not None


def loose_duration(text: str) -> int | None:
    """Nanoseconds of a duration as people write it, `3 days`; None if it is none.

    Go's numbers are of 64 bits: too many nanoseconds begin again below zero, an amount that does
    not fit by itself is no duration.
    """
    found = [(int(n[:_LONG]), _unit(word.lower())) for n, word in _LOOSE_DURATION.findall(text)]
    if not any(unit for _, unit in found) or any(n > _MOST for n, _ in found):
        return None
    return (sum(n * unit for n, unit in found) + _MOST + 1) % (2 * (_MOST + 1)) - _MOST - 1


def _unit(word: str) -> int:
    """Nanoseconds of a unit; nothing if it is none."""
    for names, nanoseconds in _UNITS.items():
        if word in names or word.startswith(names[-1]):
            return nanoseconds
    return 0


_HEX = "[0-9a-f]"
_ANY = f"{_HEX}{{4}}"
_VARIANT = f"[89ab]{_HEX}{{3}}"


def _uuid(third: str, fourth: str) -> Check:
    pattern = f"{_HEX}{{8}}-?{_HEX}{{4}}-?{third}-?{fourth}-?{_HEX}{{12}}"
    return _regex(pattern, re.IGNORECASE)


_CHECKS: dict[str, Check] = {
    "bsonobjectid": _regex("[0-9a-fA-F]{24}"),
    "byte": _regex("([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
    "cidr": _cidr,
    "creditcard": _card,
    "date": _date,
    "datetime": _datetime,
    "duration": _duration,
    "email": _email,
    "hexcolor": _regex("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": _hostname,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "isbn": _isbn,
    "isbn10": _isbn10,
    "isbn13": _isbn13,
    "k8slongname": lambda text: not dns1123_subdomain_errors(text),
    "k8sshortname": lambda text: not dns1123_label_errors(text),
    "mac": _mac,
    "password": lambda text: True,
    "rgbcolor": _regex(rf"rgb\(\s*{_OCTET}\s*,\s*{_OCTET}\s*,\s*{_OCTET}\s*\)"),
    "ssn": _regex("[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"),
    "uri": _uri,
    "uuid": _uuid(_ANY, _ANY),
    "uuid3": _uuid(f"3{_HEX}{{3}}", _ANY),
    "uuid4": _uuid(f"4{_HEX}{{3}}", _VARIANT),
    "uuid5": _uuid(f"5{_HEX}{{3}}", _VARIANT),
}
