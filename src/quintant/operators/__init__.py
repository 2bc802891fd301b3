"""The operators: one folder each, all of one shape, none knowing another.

`controllers(manager)` of a folder declares everything the operator does; `manager_of(folder)` is
the program that `quintant operator FOLDER` runs, in a cluster and on a laptop alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from quintant.runtime.manager.manager import Manager


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
    """The option that names the image of pods that it makes: our own, too, if nobody says so."""

    @property
    def namespace(self) -> str:
        """Where it lives."""
        return f"{self.name}-system"


OPERATORS: dict[str, OperatorProgram] = {
    "cosmos": OperatorProgram(
        "cosmos-operator",
        "runs full nodes of Cosmos chains, with snapshots and healing",
        image_variable="TOOL_IMAGE",
    ),
    "infra": OperatorProgram("infra", "makes, changes, heals and deletes whole clusters on clouds"),
    "klight": OperatorProgram(
        "klight",
        "joins labelled pods into networks of lightpeers",
        # A connection to each of the first thousand pods: 110 MB for 1,000 pods, 190 MB for 4,000.
        memory="256Mi",
    ),
    "portal": OperatorProgram(
        "portal",
        "exposes Services under public URLs, through tunnels to relays",
        image_variable="TUNNEL_IMAGE",
    ),
    "shifu": OperatorProgram(
        "shifu",
        "gives every edge device a deviceShifu, on the best node there is",
        ("devices", "deviceshifu", "shifu-service"),
        image_variable="AGENT_IMAGE",
    ),
}
"""Every operator by its folder, which is what a user calls it."""


def manager_of(folder: str) -> Manager:
    """An operator, ready to be served; it is loaded when it is asked for.

    It competes for a lease unless told otherwise: two that work at once undo each other's work.
    """
    manager = Manager(OPERATORS[folder].name, leader_elect=True)
    import_module(f"{__name__}.{folder}").controllers(manager)
    return manager
