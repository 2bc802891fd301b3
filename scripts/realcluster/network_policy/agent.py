"""Keeps the packet filter of one node in line with the NetworkPolicies of its cluster.

It is run on the node, in its network: `quintant run agent.py`. The whole table is one key: a change
of any policy, pod or namespace writes it again, and nothing is written that did not change.
"""

import asyncio
import socket

import msgspec

from quintant import KeyContext, Manager, Model, Object, Request, projection
from quintant.api.core import ContainerPort, Namespace, Pod
from quintant.api.kubernetes.networking_v1 import NetworkPolicy
from realcluster.network_policy.nftables import table
from realcluster.network_policy.rules import Network, PodEndpoint

_ENDED = ("Succeeded", "Failed")


class _Container(Model):
    ports: tuple[ContainerPort, ...] = ()


class _Spec(Model):
    node_name: str = ""
    host_network: bool | None = None
    containers: tuple[_Container, ...] = ()


class _Status(Model):
    phase: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")


@projection(Pod)
class PodView(Object):
    """What policies and rules are about."""

    spec: _Spec = _Spec()
    status: _Status = _Status()


def endpoint(pod: PodView) -> PodEndpoint:
    """A pod as policies know it."""
    named = (each for container in pod.spec.containers for each in container.ports)
    return PodEndpoint(
        pod.metadata.namespace,
        pod.status.pod_ip,
        pod.metadata.labels,
        {(each.protocol or "TCP", each.name): each.container_port for each in named if each.name},
    )


class NodeFilter:
    """The packet filter of the node that this process is on."""

    def __init__(self, node: str) -> None:
        self._node, self._written = node, ""

    async def __call__(self, request: Request, ctx: KeyContext) -> None:
        """Write the table if it is another than the last one."""
        pods = [pod for pod in await ctx.client.list(PodView) if _has_address(pod)]
        namespaces = await ctx.client.list(Namespace)
        network = Network(
            [endpoint(pod) for pod in pods],
            {each.metadata.name: each.metadata.labels for each in namespaces},
        )
        own = [endpoint(pod) for pod in pods if pod.spec.node_name == self._node]
        text = table(network.isolations(await ctx.client.list(NetworkPolicy), own))
        if text != self._written:
            await _load(text)
            self._written = text
            ctx.log.info("wrote table", lines=text.count("\n"))


def _has_address(pod: PodView) -> bool:
    status = pod.status
    return bool(status.pod_ip) and status.phase not in _ENDED and not pod.spec.host_network


async def _load(text: str) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec("nft", "--file=-", stdin=pipe, stderr=pipe)
    _, complaint = await process.communicate(text.encode())
    if process.returncode != 0:
        raise RuntimeError(f"nft refuses the table: {complaint.decode(errors='replace')}")


def _all(_: Object) -> list[Request]:
    return [Request("table")]


manager = Manager("network-policy")
(
    manager.keyed("node-filter")
    .watches(NetworkPolicy, to=_all)
    .watches(PodView, to=_all)
    .watches(Namespace, to=_all)
    .workers(1)
    .reconcile(NodeFilter(socket.gethostname()))
)
