"""The operators: one folder each, all of one shape, none knowing another.

`controllers(manager)` of a folder declares everything the operator does; `manager_of(name)` is the
program that `quintant operator NAME` runs, in a cluster and on a laptop alike.
"""

from __future__ import annotations

from importlib import import_module

from quintant.runtime.manager.manager import Manager

OPERATORS: dict[str, str] = {
    "klight": "joins labelled pods into networks of lightpeers",
    "portal": "exposes Services under public URLs, through tunnels to relays",
}
"""Every operator, with what it is for."""


def manager_of(name: str) -> Manager:
    """An operator, ready to be served; it is loaded when it is asked for.

    It competes for a lease unless told otherwise: two that work at once undo each other's work.
    """
    manager = Manager(name, leader_elect=True)
    import_module(f"{__name__}.{name}").controllers(manager)
    return manager
