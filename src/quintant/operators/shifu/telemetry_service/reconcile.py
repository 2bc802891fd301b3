"""One pass over all TelemetryServices: that there is what they need, and how it is."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.api.apps import Deployment
from quintant.api.core import Service
from quintant.core.object import Request
from quintant.operators.shifu.api.names import TELEMETRY_NAMESPACE
from quintant.operators.shifu.api.telemetry import TelemetryService, TelemetryServiceStatus
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.telemetry_service.builders import NAME, deployment, service
from quintant.operators.shifu.telemetry_service.plan import plan
from quintant.runtime.controller.context import KeyContext
from quintant.runtime.controller.result import Result


@dataclass(frozen=True, slots=True)
class TelemetryReconciler:
    """Keeps the service that takes telemetry for as long as anybody wants it."""

    options: Options

    async def __call__(self, request: Request, ctx: KeyContext) -> Result | None:
        client = ctx.client
        services = await client.list(TelemetryService)
        found = await client.find(Deployment, NAME, TELEMETRY_NAMESPACE, live=True)
        decided = plan(services, found)
        if decided.delete and found is not None:
            await client.delete(found)
            front = await client.find(Service, NAME, TELEMETRY_NAMESPACE, live=True)
            if front is not None:
                await client.delete(front)
        if decided.wanted:
            await client.apply(deployment(self.options.agent))
            await client.apply(service(self.options.service_type))
        for each in services:
            await client.set_status(each, TelemetryServiceStatus(phase=decided.phase))
        return Result(after=decided.again) if decided.again is not None else None
