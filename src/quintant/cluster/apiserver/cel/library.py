"""library.Quantity, library.Regex, library.Format: what Kubernetes adds to CEL."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.cel.conversions import tells
from quintant.cluster.apiserver.cel.functions import Function
from quintant.cluster.apiserver.cel.types import FORMAT, QUANTITY, SEMVER
from quintant.cluster.apiserver.cel.values import INT64, NONE, CelError, OpaqueValue, Optional
from quintant.cluster.apiserver.cel.versions import version_key
from quintant.cluster.apiserver.golang.regexp import BadPattern, finder
from quintant.cluster.apiserver.meta import formats
from quintant.cluster.apiserver.meta.names import (
    dns1035_label_errors,
    dns1123_label_errors,
    dns1123_subdomain_errors,
    label_value_errors,
    qualified_name_errors,
)

_NO_QUANTITY = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


def _quantity(text: str) -> OpaqueValue:
    try:
        return OpaqueValue(QUANTITY.name, parse_quantity(text))
    except ValueError:
        raise CelError(_NO_QUANTITY) from None


def _amount(value: Any) -> Decimal:
    return Decimal(value) if isinstance(value, int) else value.value


def _whole(quantity: OpaqueValue) -> bool:
    value = quantity.value
    return bool(value == value.to_integral_value() and INT64[0] <= value <= INT64[1])


def _integer(quantity: OpaqueValue) -> int:
    if not _whole(quantity):
        raise CelError("cannot convert value to integer")
    return int(quantity.value)


def _plus(sign: int) -> Function:
    return lambda one, other: OpaqueValue(QUANTITY.name, one.value + sign * _amount(other))


def _compare(one: OpaqueValue, other: OpaqueValue) -> int:
    left, right = (
        (version_key(each.value) if each.type == SEMVER.name else each.value)
        for each in (one, other)
    )
    return int(left > right) - int(left < right)


def _find(text: str, pattern: str) -> str:
    found = _find_all(text, pattern, 1)
    return found[0] if found else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    try:
        found = finder(pattern)(text)
    except BadPattern as error:
        raise CelError(f"Illegal regex: {error}") from None
    return found if limit < 0 else found[:limit]


def _prefix(complaints: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """A name that something is appended to may end in a dash."""
    return lambda text: complaints(f"{text[:-1]}a" if text.endswith("-") else text)


def _strict(name: str, complaint: str) -> Callable[[str], list[str]]:
    check = formats.find("string", name)
    assert check is not None, "these formats are known"
    return lambda text: [] if check(text) else [complaint]


_COMPLAINTS: dict[str, Callable[[str], list[str]]] = {
    "dns1123Label": dns1123_label_errors,
    "dns1123Subdomain": dns1123_subdomain_errors,
    "dns1035Label": dns1035_label_errors,
    "qualifiedName": qualified_name_errors,
    "dns1123LabelPrefix": _prefix(dns1123_label_errors),
    "dns1123SubdomainPrefix": _prefix(dns1123_subdomain_errors),
    "dns1035LabelPrefix": _prefix(dns1035_label_errors),
    "labelValue": label_value_errors,
    "uri": _strict("uri", "invalid URI for request"),
    "uuid": _strict("uuid", "does not match the UUID format"),
    "byte": _strict("byte", "invalid base64"),
    "date": _strict("date", "invalid date"),
    "datetime": _strict("datetime", "invalid datetime"),
}


def _named(name: str) -> Optional:
    return Optional(OpaqueValue(FORMAT.name, name)) if name in _COMPLAINTS else NONE


def _validate(form: OpaqueValue, text: str) -> Optional:
    complaints = _COMPLAINTS[form.value](text)
    return Optional(complaints) if complaints else NONE


LIBRARY: dict[str, Function] = {
    "quantity": _quantity,
    "isQuantity": tells(_quantity),
    "isInteger": _whole,
    "asInteger": _integer,
    "asApproximateFloat": lambda one: float(one.value),
    "sign": lambda one: int(one.value > 0) - int(one.value < 0),
    "add": _plus(1),
    "sub": _plus(-1),
    "isGreaterThan": lambda one, other: _compare(one, other) > 0,
    "isLessThan": lambda one, other: _compare(one, other) < 0,
    "compareTo": _compare,
    "find": _find,
    "findAll": _find_all,
    "format.named": _named,
    "validate": _validate,
    **{
        f"format.{name}": (lambda chosen: lambda: OpaqueValue(FORMAT.name, chosen))(name)
        for name in _COMPLAINTS
    },
}
