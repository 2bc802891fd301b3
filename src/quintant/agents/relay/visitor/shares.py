"""How many of an app's streams one address may hold: no more than are still free.

One address alone gets half of them, two get a third each, and so on: however many come, somebody
new always finds as much room as each of them has. Behind a trusted proxy the address is the
visitor's that it tells of; of IPv6 it is the network, since a visitor has 2^64 of its addresses.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

from quintant.agents.relay.visitor.fields import ClientOrigin
from quintant.http.head import RequestHead

REMEMBERED = 1024
"""Addresses that are not read again: each is on every request of its visitor."""
_NETWORK = 64
"""Bits of an IPv6 address that name a visitor's network."""


class AddressShares:
    """Who holds how many streams of which app."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], int] = {}

    def fits(self, app: str, address: str, free: int) -> bool:
        """Whether an address may have another stream of an app that has so many left."""
        return self._held.get((app, address), 0) < free

    def hold(self, app: str, address: str) -> None:
        """An address has one more stream."""
        key = (app, address)
        self._held[key] = self._held.get(key, 0) + 1

    def release(self, app: str, address: str) -> None:
        """An address has one less."""
        key = (app, address)
        self._held[key] -= 1
        if not self._held[key]:
            del self._held[key]


def share_address(head: RequestHead, origin: ClientOrigin) -> str:
    """Whose share a request counts against."""
    forwarded = head.words(b"x-forwarded-for") if origin.trusted else ()
    try:
        return _visitor(forwarded[-1].decode("ascii") if forwarded else origin.address)
    except ValueError:
        return origin.address


@lru_cache(REMEMBERED)
def _visitor(address: str) -> str:
    found = ip_address(address)
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(ip_network((found, _NETWORK), strict=False))
    return str(getattr(found, "ipv4_mapped", None) or found)
