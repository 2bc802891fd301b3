"""ServerNameIndication: which certificate a client is shown: that of the host it names.

    the host, then a wildcard for its first label, then a Secret for no host in particular,
    then one of the cluster's own authority, which nobody has to trust

A client that is connected keeps its certificate; the next handshake has the newest.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from typing import Final

from quintant.cluster.kubeproxy.ingress.routes import ANY_HOST, wildcard_of
from quintant.core.object import Request
from quintant.keys.tls import KeyPair, load_key_pair


def server_context(pair: KeyPair) -> ssl.SSLContext:
    """A context that shows a certificate. ssl.SSLError if it cannot be read."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.set_alpn_protocols(["http/1.1"])
    load_key_pair(context, pair)
    return context


class Certificates:
    """The certificates of all Ingresses, by host."""

    def __init__(self, own: KeyPair) -> None:
        self.context: Final = server_context(own)
        """What listeners are given: it chooses while a client shakes hands."""
        self.context.sni_callback = self._choose
        self._by_ingress: dict[Request, Mapping[str, ssl.SSLContext]] = {}
        self._hosts: dict[str, ssl.SSLContext] = {}

    def put(
        self, ingress: Request, hosts: Mapping[str, ssl.SSLContext], age: Iterable[Request]
    ) -> None:
        """The certificates of an Ingress; of two for one host the first by `age` is shown."""
        self._by_ingress[ingress] = hosts
        self._hosts = {}
        for key in age:
            for host, context in self._by_ingress.get(key, {}).items():
                self._hosts.setdefault(host, context)

    def forget(self, ingress: Request, age: Iterable[Request]) -> None:
        """An Ingress has none any more."""
        self.put(ingress, {}, age)
        del self._by_ingress[ingress]

    @property
    def contexts(self) -> frozenset[ssl.SSLContext]:
        """All that some Ingress has."""
        return frozenset(
            context for hosts in self._by_ingress.values() for context in hosts.values()
        )

    def find(self, host: str) -> ssl.SSLContext:
        """What is shown to a client that names a host."""
        for name in (host, wildcard_of(host), ANY_HOST):
            if name in self._hosts:
                return self._hosts[name]
        return self.context

    def _choose(self, handshake: ssl.SSLObject, host: str | None, context: ssl.SSLContext) -> None:
        handshake.context = self.find((host or "").lower())
