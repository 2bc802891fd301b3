"""The operators: one folder each, all of one shape, none knowing another.

`controllers(manager)` of a folder declares everything the operator does; `manager_of(folder)` is
the program that `quintant operator FOLDER` runs, in a cluster and on a laptop alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from quintant.core.errors import ConfigError
from quintant.runtime.manager.manager import Manager


@dataclass(frozen=True, slots=True)
class EgressTarget:
    """What an operator connects to, beside DNS and the API server."""

    port: int = 0
    """The only port; 0 is any, where users choose it."""
    pods: bool = True
    """Whether it is a pod of the cluster; else it may be anywhere."""


@dataclass(frozen=True, slots=True)
class AgentPods:
    """Pods that an operator makes, and who may reach them: a NetworkPolicy."""

    name: str
    """Of the policy."""
    labels: Mapping[str, str]
    """What they are found by; a label without a value is there with any."""
    without: str = ""
    """A label that they do not have, and pods of users beside them do."""
    ports: tuple[str, ...] = ()
    """Names of the ports that they serve to everybody."""
    reports: tuple[str, ...] = ()
    """Names of the ports for their operator alone."""
    namespace: str = ""
    """Where they are; empty is wherever users want them."""


@dataclass(frozen=True, slots=True)
class OperatorProgram:
    """An operator as it is installed."""

    name: str
    """Of its manager: its Deployment, service account, roles and lease are called so."""
    title: str
    """What it is for."""
    namespaces: tuple[str, ...] = ()
    """Further namespaces that come with it: those that its roles are in."""
    memory: str = "128Mi"
    """The limit of its pods."""
    image_variable: str = ""
    """The option that names the image of pods that it makes: its own pod's, if it is not set."""

    egress: tuple[EgressTarget, ...] = ()
    """What it connects to."""
    serves: tuple[int, ...] = ()
    """Ports beside those of every operator on which pods connect to it."""
    agents: tuple[AgentPods, ...] = ()
    """The pods that it makes."""
    shards: bool = False
    """Whether its decisions that look at other keys are right with several members."""

    @property
    def namespace(self) -> str:
        """Where it lives."""
        return f"{self.name}-system"


OPERATORS: dict[str, OperatorProgram] = {
    "cosmos": OperatorProgram(
        "cosmos-operator",
        "runs full nodes of Cosmos chains, with snapshots and healing",
        image_variable="TOOL_IMAGE",
        # A chain may have its RPC on any port.
        egress=(EgressTarget(),),
        agents=(
            AgentPods(
                "cosmos-nodes",
                {"app.kubernetes.io/created-by": "cosmos-operator"},
                without="cosmos.strange.love/belongs-to",
                ports=(
                    *("api", "rosetta", "grpc", "grpc-web"),
                    *("prometheus", "p2p", "rpc", "privval"),
                ),
                reports=("healthcheck",),
            ),
        ),
        shards=True,
    ),
    "infra": OperatorProgram(
        "infra",
        "makes, changes, heals and deletes whole clusters on clouds",
        egress=(EgressTarget(pods=False),),
        shards=True,
    ),
    "klight": OperatorProgram(
        "klight",
        "joins labelled pods into networks of lightpeers",
        # A connection to each of the first thousand pods: 110 MB for 1,000 pods, 190 MB for 4,000.
        memory="256Mi",
        # A pod names the port of its peer; peers of another make come back during a repair.
        egress=(EgressTarget(),),
        serves=(9082,),
        shards=True,
    ),
    "portal": OperatorProgram(
        "portal",
        "exposes Services under public URLs, through tunnels to relays",
        image_variable="TUNNEL_IMAGE",
        # Where its tunnels say how they are.
        egress=(EgressTarget(9808),),
        agents=(
            AgentPods(
                "portal-tunnels",
                {"app.kubernetes.io/managed-by": "portal-expose-controller"},
                reports=("admin",),
            ),
        ),
        shards=True,
    ),
    "shifu": OperatorProgram(
        "shifu",
        "gives every edge device a deviceShifu, on the best node there is",
        ("devices", "deviceshifu", "shifu-service"),
        image_variable="AGENT_IMAGE",
        agents=(
            AgentPods(
                "deviceshifus",
                {"shifu.edgenesis.io/edgedevice-uid": ""},
                ports=("http", "tcp"),
                namespace="deviceshifu",
            ),
            AgentPods(
                "telemetryservice",
                {"app": "telemetryservice"},
                ports=("http",),
                namespace="shifu-service",
            ),
        ),
    ),
}
"""Every operator by its folder, which is what a user calls it."""


def manager_of(folder: str, namespaces: tuple[str, ...] = (), *, shards: bool = False) -> Manager:
    """An operator, ready to be served; it is loaded when it is asked for.

    It competes for a lease unless told otherwise: two that work at once undo each other's work.
    With `shards`, all replicas work, each on keys of its own; ConfigError where that is not right.
    `namespaces` are the only ones it looks after; empty means all.
    """
    program = OPERATORS[folder]
    if shards and not program.shards:
        raise _not_sharded(folder)
    manager = Manager(program.name, namespaces=namespaces, leader_elect=not shards, shards=shards)
    import_module(f"{__name__}.{folder}").controllers(manager)
    return manager


def _not_sharded(folder: str) -> ConfigError:
    able = ", ".join(name for name, program in OPERATORS.items() if program.shards)
    return ConfigError(
        f"{folder} cannot be sharded",
        because="its decisions that look at other objects are right with one leader only",
        hint=f"leave --shards out; operators that have it: {able}",
    )
