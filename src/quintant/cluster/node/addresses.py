"""Addresses of pods: loopback, one for each, and not given out again before all others were.

Linux answers on all of 127.0.0.0/8. Where a machine does not (macOS), all pods share 127.0.0.1, and
it is up to their ports to tell them apart.
Several clusters on one machine get a network each: whoever holds the lock port of one has it.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv4Network

HOST = "127.0.0.1"
"""The address of the machine itself, and of pods in its network."""
NETWORKS = tuple(IPv4Network(f"127.{second}.0.0/16") for second in range(42, 74))
"""One for each cluster of this machine; services have theirs elsewhere."""
LOCK_PORT = 42424
"""Bound, never listened on, at the last address of a network by the cluster that has it."""
SHARED = IPv4Network(HOST)


class Addresses:
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


@contextmanager
def reserved() -> Iterator[IPv4Network]:
    """A network that no other cluster of this machine has, for as long as the context lasts."""
    for network in NETWORKS:
        with socket.socket() as lock:
            if _bound(lock, str(network[-2])):
                yield network
                return
    yield SHARED


def _bound(lock: socket.socket, address: str) -> bool:
    try:
        lock.bind((address, LOCK_PORT))
    except OSError:
        return False
    return True
