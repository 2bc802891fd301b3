"""One pass over all TunnelClasses: read them, conclude where each stands.

No class is ever edited, whatever its annotations say; the operator has no right to.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.core.object import Request
from quintant.operators.portal.api import TunnelClass
from quintant.operators.portal.tunnel_class.plan import plan
from quintant.runtime.reconcile.context import KeyContext


@dataclass(frozen=True, slots=True)
class TunnelClassReconciler:
    """Says where each class stands among all; nothing is written where its status says so."""

    async def __call__(self, request: Request, ctx: KeyContext) -> None:
        classes = await ctx.client.list(TunnelClass)
        for tunnel_class in classes:
            await ctx.conclude(tunnel_class, plan(tunnel_class, classes, ctx.clock.now()))
