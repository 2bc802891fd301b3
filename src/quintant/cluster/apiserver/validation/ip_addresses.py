"""ValidateIPAddress, ValidateServiceCIDR: addresses of services, and the ranges they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from ipaddress import ip_address

from quintant.cluster.apiserver.meta.field_errors import invalid, invalid_each, required
from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors, path_segment_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import (
    IMMUTABLE,
    parse_cidr,
    validate_cidr,
    validate_immutable,
)
from quintant.core.errors import Cause

MOST_RANGES = 2
"""One of each family."""
_ADDRESS_TEXT = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_FAMILIES = (
    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
)


def ip_address_name_errors(name: str) -> list[str]:
    """What is wrong with the name of an IPAddress: it is that address, spelled as usual."""
    try:
        found = ip_address(name)
    except ValueError:
        return [_ADDRESS_TEXT]
    return [] if str(found) == name else [f'must be in canonical form ("{found}")']


def validate_ip_address(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with what an address belongs to."""
    path, ref = "spec.parentRef", obj["spec"].get("parentRef")
    if ref is None:
        yield required(path)
    else:
        if group := ref.get("group"):
            yield from invalid_each(f"{path}.group", group, dns1123_subdomain_errors(group))
        for name in ("resource", "name", "namespace"):
            value = ref.get(name) or ""
            if not value and name != "namespace":
                yield required(f"{path}.{name}")
            elif value:
                yield from invalid_each(f"{path}.{name}", value, path_segment_errors(value))
    if live is not None:
        yield from validate_immutable(path, ref, live["spec"].get("parentRef"))


def validate_service_cidr(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with the ranges that services get their addresses from."""
    path, ranges = "spec.cidrs", obj["spec"].get("cidrs") or []
    before = None if live is None else live["spec"].get("cidrs") or []
    if before is None:
        yield from _range_causes(path, ranges)
    elif len(before) == len(ranges):
        for at, (value, old) in enumerate(zip(ranges, before, strict=True)):
            yield from validate_immutable(f"{path}[{at}]", value, old)
    elif (len(before), len(ranges)) == (1, MOST_RANGES):
        yield from validate_immutable(f"{path}[0]", ranges[0], before[0])
        yield from _range_causes(path, ranges)
    else:
        yield invalid(path, ranges, IMMUTABLE)


def _range_causes(path: str, ranges: list[str]) -> Iterator[Cause]:
    if not ranges:
        yield required(path, "at least one CIDR required")
        return
    if len(ranges) > MOST_RANGES:
        yield invalid(path, {"cidrs": ranges}, f"may only hold up to {MOST_RANGES} values")
        return
    for at, value in enumerate(ranges):
        yield from validate_cidr(f"{path}[{at}]", value)
    found = [parse_cidr(value) for value in ranges]
    families = [each.version for each in found if each is not None]
    if len(families) == MOST_RANGES and len(set(families)) == 1:
        yield invalid(path, ranges, _FAMILIES)


IP_ADDRESSES: dict[str, Callable[[JsonObject, JsonObject | None], Iterable[Cause]]] = {
    "ipaddresses": validate_ip_address,
    "servicecidrs": validate_service_cidr,
}
