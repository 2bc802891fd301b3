"""The share of loopback that a cluster has, so that clusters of one machine do not meet.

Linux answers on all of 127.0.0.0/8, so a cluster needs no network of its own: it has a share of
these addresses, one for its node, a network for pods, a network for services. The first cluster of
a machine has the `FIRST` share, the next one that is free each. Whoever holds a share's lock has
it: a bound socket, which the kernel lets go of with its process, however that ends.

Where a machine answers on 127.0.0.1 only (macOS), all share that, and ports tell them apart.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv4Network

from msgspec import Struct

HOST = "127.0.0.1"
"""What every machine answers on."""
CLUSTERS = 32
"""Clusters of one machine that have addresses of their own."""
LOCK_PORT = 42424
"""Bound, never listened on, at the last address of a share's pods."""


class LoopbackShare(Struct, frozen=True):
    """The addresses of one cluster."""

    host: str
    """Of its node, where node ports are, and of pods in the network of the node."""
    pods: IPv4Network
    services: IPv4Network

    @property
    def api(self) -> str:
        """Of the API server as a service: the first one, as everywhere."""
        return str(self.services[1])


SHARES = tuple(
    LoopbackShare(f"127.0.0.{at + 1}", IPv4Network(f"127.{42 + at}.0.0/16"),
          IPv4Network(f"127.{96 + at}.0.0/16"))
    for at in range(CLUSTERS)
)  # fmt: skip
FIRST = SHARES[0]
CROWDED = LoopbackShare(HOST, IPv4Network(HOST), FIRST.services)
"""What is left where no share can be had."""


@contextmanager
def claim_share(before: str = "") -> Iterator[LoopbackShare]:
    """A share that no other cluster of this machine has, for as long as the context lasts.

    `before` is an address of a service that the cluster had: its share is tried first.
    """
    for share in sorted(SHARES, key=lambda share: not is_service_ip(share, before)):
        with socket.socket() as lock:
            if _bound(lock, str(share.pods[-2])):
                yield share
                return
    yield CROWDED


def is_service_ip(share: LoopbackShare, address: str) -> bool:
    """Whether an address is of a share's services."""
    try:
        return IPv4Address(address) in share.services
    except ValueError:
        return False


def _bound(lock: socket.socket, address: str) -> bool:
    try:
        lock.bind((address, LOCK_PORT))
    except OSError:
        return False
    return True
