"""TelemetryService: the one service that takes telemetry, for as long as one is wanted.

A part of its own, with a role of its own, off unless it is asked for. All TelemetryServices are one
key: they share the Deployment and the Service, which go with the last of them.
"""

from __future__ import annotations

from quintant.api.apps import Deployment
from quintant.api.core import Service
from quintant.core.object import Request
from quintant.operators.shifu.api.names import TELEMETRY_NAMESPACE
from quintant.operators.shifu.api.telemetry import TelemetryService
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.telemetry_service.builders import NAME
from quintant.operators.shifu.telemetry_service.reconcile import TelemetryServiceReconciler
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source import predicates

ALL = Request(NAME)
"""The only key there is, and the name of what is made."""
HERE = (TELEMETRY_NAMESPACE,)


def controllers(manager: Manager, options: Options) -> None:
    """Declare the controller of TelemetryServices."""
    (
        manager.part("telemetry", on=options.telemetry_service)
        .keyed("shifu-telemetry")
        .watches(TelemetryService, to=lambda _: (ALL,), when=predicates.generation)
        .uses(TelemetryService, "patch", sub="status")
        .uses(Deployment, "create", "get", "patch", "delete", namespaces=HERE, names=(NAME,))
        .uses(Service, "create", "get", "patch", "delete", namespaces=HERE, names=(NAME,))
        .reconcile(TelemetryServiceReconciler(options))
    )
