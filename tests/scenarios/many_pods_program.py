"""A controller of many pods and of a kind of its own, run by `quintant run`.

It keeps of each pod what finding peers needs: name, namespace, labels, phase and address.
"""

from __future__ import annotations

from msgspec import field

from quintant import Context, Custom, Manager, Model, Object, projection, resource
from quintant.api.core import Pod


class PeerStatus(Model):
    phase: str = ""
    pod_ip: str = field(default="", name="podIP")


@projection(Pod)
class Peer(Object):
    """A pod, as a network sees it."""

    status: PeerStatus = PeerStatus()


class NetworkSpec(Model):
    network_id: str


class NetworkStatus(Model):
    peers: int | None = None


@resource(group="test.quintant.dev", version="v1", status=True)
class Network(Custom[NetworkSpec, NetworkStatus]):
    """A network of pods."""


def network_of(peer: Peer) -> list[str]:
    return [peer.metadata.labels["network"]]


async def join(peer: Peer, ctx: Context[Peer]) -> None:
    """Look at the other peers; there is nothing to do."""
    await ctx.client.list(Peer, index=("network", network_of(peer)[0]))


async def count(network: Network, ctx: Context[Network]) -> None:
    """Look at the peers; there is nothing to do."""
    await ctx.client.list(Peer, index=("network", network.spec.network_id))


manager = Manager("crowd")
manager.controls(Peer).index("network", network_of).reconcile(join)
manager.controls(Network).reconcile(count)
