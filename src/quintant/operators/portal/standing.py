"""The controller of TunnelClass: whether a class is the default, and which generation was seen.

A class manages nothing: its changes reach PortalExposes by a watch of theirs. No class is ever
edited, whatever its annotations say; the operator has no right to. All are looked at together, for
where one stands depends on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from quintant.api.meta import condition_of, set_condition
from quintant.core.object import Request
from quintant.operators.portal.api import TunnelClass, TunnelClassStatus
from quintant.operators.portal.classes import defaults
from quintant.runtime.controller.context import KeyContext

DEFAULT, CONFLICT = "Default", "DefaultConflict"


ALL = Request("all")
"""The only key there is."""


async def reconcile(request: Request, ctx: KeyContext) -> None:
    """Say where each class stands among all; nothing is written where it is said already."""
    classes = await ctx.client.list(TunnelClass)
    for tunnel_class in classes:
        before = tunnel_class.status or TunnelClassStatus()
        after = standing(tunnel_class, classes, ctx.clock.now())
        await ctx.client.set_status(tunnel_class, after)
        said = _conflict(after)
        if said and not _conflict(before):
            ctx.event(tunnel_class, "MultipleDefaults", said, type="Warning")


def standing(
    tunnel_class: TunnelClass, classes: Sequence[TunnelClass], now: datetime
) -> TunnelClassStatus:
    """The status of a class among all classes."""
    wanting, generation = defaults(classes), tunnel_class.metadata.generation
    names = [each.metadata.name for each in wanting]
    chosen = names[:1] == [tunnel_class.metadata.name]
    rivals = len(names) > 1 and tunnel_class.metadata.name in names
    conditions = (tunnel_class.status or TunnelClassStatus()).conditions
    conditions = set_condition(
        conditions, DEFAULT, status=chosen, generation=generation, now=now,
        reason="InForce" if chosen else "AnotherIsNewer" if rivals else "NotAsked",
        message="In force for those who name no class" if chosen else "In force by name only",
    )  # fmt: skip
    if rivals or condition_of(conditions, CONFLICT) is not None:
        listed = ", ".join(names)
        conditions = set_condition(
            conditions, CONFLICT, status=rivals, generation=generation, now=now,
            reason="MultipleDefaults" if rivals else "OneDefault",
            message=f"Several classes want to be the default: {listed}; {names[0]} is in force"
            if rivals else "No other class wants to be the default",
        )  # fmt: skip
    return TunnelClassStatus(observed_generation=generation, conditions=conditions)


def _conflict(status: TunnelClassStatus) -> str:
    found = condition_of(status.conditions, CONFLICT)
    return found.message if found is not None and found.status == "True" else ""
