"""TunnelClass: whether a class is the default, and which generation was seen.

A class manages nothing: its changes reach PortalExposes by a watch of theirs. All classes are one
key, for where one stands depends on the others.
"""

from __future__ import annotations

from quintant.core.object import Request
from quintant.operators.portal.api import DEFAULT_CLASS, TunnelClass
from quintant.operators.portal.tunnel_class.reconcile import TunnelClassReconciler
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source import predicates

ALL = Request("all")
"""The only key there is."""
CHANGED = predicates.generation | predicates.annotation(DEFAULT_CLASS)


def _status(tunnel_class: TunnelClass) -> object:
    """Its status: one that an earlier process wrote last is looked at again."""
    return tunnel_class.status


def controllers(manager: Manager) -> None:
    """Declare the controller of TunnelClasses."""
    (
        manager.keyed("tunnel-class-controller")
        .single()
        .watches(TunnelClass, to=lambda _: (ALL,), when=CHANGED | predicates.changed(_status))
        .uses(TunnelClass, "patch", sub="status")
        .reconcile(TunnelClassReconciler())
    )
