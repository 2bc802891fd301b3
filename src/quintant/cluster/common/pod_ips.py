"""Addresses of pods: one for each, and not given out again before all others were.

Which network they are of is decided elsewhere (quintant.cluster.host.loopback). If that is one
address, all pods have it, and it is up to their ports to tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network


class PodIPs:
    """The addresses of a network: each is one pod's, or nobody's."""

    def __init__(self, network: IPv4Network) -> None:
        self.network = network
        self._taken: set[str] = set()
        self._next = 1

    def take(self, before: str = "") -> str:
        """An address that nobody has; the one from `before` if that is still free."""
        if self.network.num_addresses == 1:
            return str(self.network[0])
        chosen = before if self._free(before) else next(filter(self._free, self._round()))
        self._taken.add(chosen)
        return chosen

    def free(self, address: str) -> None:
        """Give an address back; it will be the last to be given out again."""
        self._taken.discard(address)

    def _round(self) -> Iterator[str]:
        """Every address once, from where the last round stopped; first and last ones have a use."""
        usable = self.network.num_addresses - 3
        if len(self._taken) >= usable:
            raise RuntimeError(f"all {usable} addresses of {self.network} are taken")
        while True:
            at, self._next = self._next, self._next % usable + 1
            yield str(self.network[at])

    def _free(self, address: str) -> bool:
        if not address or address in self._taken:
            return False
        return IPv4Address(address) in self.network
