"""One pass over a PortalExpose: read the world, bring the Deployment in line, say what is so.

    read ──> World ──> act ──> Deed ──> judged ──> status, events, and when to look again

What is read comes from the caches; the Deployment is written first, the status after it, and events
only once what they tell is written. A pass that finds everything as it should be writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from quintant.api.apps import Deployment
from quintant.api.core import Pod, Service
from quintant.core.clock import monotonic
from quintant.core.object import Request
from quintant.operators.portal import notices
from quintant.operators.portal.api import PortalExpose, PortalExposeStatus, TunnelClass
from quintant.operators.portal.builders import EXPOSE_LABEL, deployment_name, labels
from quintant.operators.portal.classes import resolve
from quintant.operators.portal.deed import Deed, Outcome
from quintant.operators.portal.deploy import act, held
from quintant.operators.portal.metrics import Meter, PortalMetrics
from quintant.operators.portal.options import Options
from quintant.operators.portal.remote import HEARING_SECONDS, Scraper
from quintant.operators.portal.rules import expose_complaints
from quintant.operators.portal.status import judged
from quintant.operators.portal.world import World
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

# After a write to the Deployment; watches usually are faster.
_SOON_SECONDS = 1.0
# When a first word has not come: a moment after it should have.
_MISSED_SECONDS = HEARING_SECONDS + 0.1
# While the Deployment of an earlier namesake goes away.
_WAIT_SECONDS = 2.0
# While a relay is not connected: as long again as it has been so, within these bounds, which
# doubles. The tunnels themselves try again on their own, and tell of it.
_RELAY_SECONDS, _RELAY_CAP_SECONDS = 5.0, 300.0


@dataclass(slots=True)
class Reconcile:
    """Brings the tunnels of a PortalExpose in line with it."""

    options: Options
    scraper: Scraper
    metrics: PortalMetrics
    _failing: dict[Request, float] = field(default_factory=dict)
    """Since when a relay is not connected, in the loop's time; lost without harm."""

    async def __call__(self, expose: PortalExpose, ctx: Context[PortalExpose]) -> Result | None:
        with self.metrics.measured() as meter:
            return await self._pass(expose, ctx, meter)

    def forget(self, request: Request) -> None:
        """Let go of a PortalExpose that is gone."""
        self._failing.pop(request, None)
        self.scraper.forget(request)

    async def _pass(
        self, expose: PortalExpose, ctx: Context[PortalExpose], meter: Meter
    ) -> Result | None:
        name, place = deployment_name(expose.metadata.name), expose.metadata.namespace
        found = await ctx.client.find(Deployment, name, place)
        world = await self._read(expose, held(found, expose), ctx)
        deed = Deed()
        if not world.blocked:
            deed = await act(world, found, meter.client(ctx.client), self.options.tunnels)
        self._say(ctx, notices.of_deed(world, deed))

        status = judged(world, deed)
        if status != expose.status:
            await meter.client(ctx.client).set_status(expose, status)
            self.metrics.lagged(world, status)
            for notice in notices.of_status(world, deed, status):
                self._say(ctx, notice)
        if deed.error is not None:
            raise deed.error
        return self._again(world, deed, status)

    async def _read(
        self, expose: PortalExpose, deployment: Deployment | None, ctx: Context[PortalExpose]
    ) -> World:
        client, place = ctx.client, expose.metadata.namespace
        chosen = labels(expose.metadata.name)[EXPOSE_LABEL]
        pods = tuple(await client.list(Pod, place, labels={EXPOSE_LABEL: chosen}))
        world = World(
            expose=expose,
            service=await client.find(Service, expose.spec.app.service.name, place),
            tunnel_class=resolve(expose, await client.list(TunnelClass)),
            deployment=deployment,
            pods=pods,
            complaints=tuple(expose_complaints(expose.spec)),
            assume=self.options.relay_status_source == "assume",
            now=ctx.clock.now(),
        )
        # Whoever only carries our labels is not asked, and not believed.
        heard = self.scraper.listen(ctx.request, () if world.assume else world.living)
        return replace(world, reports=heard, expected=self.scraper.expected(ctx.request))

    def _say(self, ctx: Context[PortalExpose], notice: notices.Notice | None) -> None:
        if notice is not None:
            ctx.event(notice.reason, notice.note, type=notice.type, action=notice.action)

    def _again(self, world: World, deed: Deed, status: PortalExposeStatus) -> Result | None:
        match deed.outcome:
            case Outcome.CREATED | Outcome.UPDATED | Outcome.CORRECTED:
                return Result(after=_SOON_SECONDS)
            case Outcome.WAITING:
                return Result(after=_WAIT_SECONDS)
            case Outcome.NONE | Outcome.CONFLICT:
                return None
        pods, relays = status.tunnel_pods, status.relay.connected if status.relay else ()
        request, waits = world.expose.key, [_MISSED_SECONDS] if world.unheard else []
        if pods is None or (pods.ready or 0) < (pods.total or 0):
            waits.append(self.options.status_check_interval)
        if any(relay.status != "Connected" for relay in relays):
            waits.append(self._patience(request))
        else:
            self._failing.pop(request, None)
        return Result(after=min(waits)) if waits else None

    def _patience(self, request: Request) -> float:
        now = monotonic()
        passed = now - self._failing.setdefault(request, now)
        return min(max(passed, _RELAY_SECONDS), _RELAY_CAP_SECONDS)
