"""podIPs: addresses of Pods: one each, and not used again before all others were.

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
        """An address that nobody has.

        The one from `before` if it is free; if it is of another network, its place in this one.
        """
        if self.network.num_addresses == 1:
            return str(self.network[0])
        wanted = self._here(before)
        chosen = wanted if self._free(wanted) else next(filter(self._free, self._round()))
        self._taken.add(chosen)
        return chosen

    def free(self, address: str) -> None:
        """Give an address back; it will be the last to be given out again."""
        self._taken.discard(address)

    @property
    def _usable(self) -> int:
        """How many addresses pods can have: the first and the last ones have a use."""
        return self.network.num_addresses - 3

    def _round(self) -> Iterator[str]:
        """Every address once, from where the last round stopped."""
        if len(self._taken) >= self._usable:
            raise RuntimeError(f"all {self._usable} addresses of {self.network} are taken")
        while True:
            at, self._next = self._next, self._next % self._usable + 1
            yield str(self.network[at])

    def _here(self, address: str) -> str:
        """An address's place in this network; empty if no pod can have that."""
        try:
            at = int(IPv4Address(address)) & int(self.network.hostmask)
        except ValueError:
            return ""
        return str(self.network[at]) if 0 < at <= self._usable else ""

    def _free(self, address: str) -> bool:
        return bool(address) and address not in self._taken
