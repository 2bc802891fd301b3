"""One pass over all TunnelClasses: read them, say where each stands, tell of conflicts.

No class is ever edited, whatever its annotations say; the operator has no right to.
"""

from __future__ import annotations

from quintant.core.object import Request
from quintant.operators.portal.api import TunnelClass
from quintant.operators.portal.tunnel_class.plan import plan
from quintant.runtime.controller.context import KeyContext


async def reconcile(request: Request, ctx: KeyContext) -> None:
    """Say where each class stands among all; nothing is written where it is said already."""
    classes = await ctx.client.list(TunnelClass)
    for tunnel_class in classes:
        decided = plan(tunnel_class, classes, ctx.clock.now())
        await ctx.client.set_status(tunnel_class, decided.status)
        ctx.tell(tunnel_class, *decided.events)
