"""One pass over all TelemetryServices: that there is what they need, and how it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quintant.api.apps import Deployment
from quintant.api.core import Service
from quintant.core.object import Request
from quintant.operators.shifu.api.names import TELEMETRY_NAMESPACE
from quintant.operators.shifu.api.telemetry import TelemetryService, TelemetryServiceStatus
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.telemetry_service.builders import NAME, deployment, service
from quintant.operators.shifu.telemetry_service.plan import (
    TelemetryPlan,
    conclude,
    conclude_upstream,
    is_ours,
    named_brokers,
    plan,
)
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result


@dataclass(frozen=True, slots=True)
class TelemetryServiceReconciler:
    """Keeps the service that takes telemetry for as long as there is a TelemetryService."""

    options: Options

    async def __call__(self, request: Request, ctx: KeyContext) -> Result | None:
        client = ctx.client
        services = await client.list(TelemetryService)
        existing = await client.find(Deployment, NAME, TELEMETRY_NAMESPACE, live=True)
        decided = plan(services, existing)
        front = await client.find(Service, NAME, TELEMETRY_NAMESPACE, live=True)
        for have, want in (
            (existing, deployment(self.options.agent, named_brokers(services))),
            (front, service(self.options.service_type)),
        ):
            if have is not None and not is_ours(have):
                continue  # theirs: it is used as it is, and stays
            if decided.wanted:
                await client.apply(want)
            elif have is not None:
                await client.delete(have)
        for each in services:
            await ctx.conclude(each, self._conclusion(each, decided, ctx.clock.now()))
        return decided.again

    def _conclusion(
        self, service: TelemetryService, decided: TelemetryPlan, now: datetime
    ) -> Conclusion[TelemetryServiceStatus]:
        if self.options.crd_flavor == "upstream":
            return conclude_upstream(decided)
        return conclude(service, decided, now)
