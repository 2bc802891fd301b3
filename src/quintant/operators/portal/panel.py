"""portal on the console: exposures with their relays and public URL, and classes. Pure."""

from __future__ import annotations

from quintant.operators.portal.api import (
    PortalExpose,
    PortalExposeStatus,
    RelayConnection,
    TunnelClass,
)
from quintant.runtime.observe.system_panel import (
    NO_STATUS,
    ObjectState,
    PanelKind,
    PanelPlot,
    PanelRow,
    SystemPanel,
    columns,
    judge_conditions,
    text_of,
)

PHASES: dict[str, ObjectState] = {
    "Ready": "well", "Pending": "working", "Degraded": "broken", "Failed": "broken",
}  # fmt: skip


def expose_row(expose: PortalExpose) -> PanelRow:
    """A Service made public."""
    status, app = expose.status, expose.spec.app
    service = f"{app.service.name}:{app.service.port}"
    if status is None:
        return PanelRow("unknown", NO_STATUS, (app.name, service, "", "", "", ""))
    state = PHASES.get(status.phase or "", "unknown")
    pods = status.tunnel_pods
    tunnels = "" if pods is None else f"{pods.ready or 0}/{pods.total or 0}"
    cells = (
        app.name, service, text_of(status.phase), status.public_url, tunnels,
        ", ".join(f"{each.name} {each.status}" for each in _relays(status)),
    )  # fmt: skip
    connected = sum(each.status == "Connected" for each in _relays(status))
    figures = {"portal-relays": float(connected)}
    return PanelRow(state, _sentence(status, state), cells, status.public_url, figures)


def class_row(tunnel_class: TunnelClass) -> PanelRow:
    """A class of tunnels; it only says what others are made like, so it is well."""
    spec, status = tunnel_class.spec, tunnel_class.status
    conditions = status.conditions if status is not None else ()
    state, sentence = judge_conditions(conditions)
    if not conditions:
        state, sentence = "well", "exposures may name it"
    return PanelRow(state, sentence, (spec.size, text_of(spec.replicas)))


def _relays(status: PortalExposeStatus) -> tuple[RelayConnection, ...]:
    return status.relay.connected if status.relay is not None else ()


def _sentence(status: PortalExposeStatus, state: ObjectState) -> str:
    for relay in _relays(status) if state == "broken" else ():
        if relay.last_error:
            return f"relay {relay.name}: {relay.last_error}"
    if state == "well" and status.public_url:
        return f"it is public at {status.public_url}"
    return judge_conditions(status.conditions)[1]


PANEL = SystemPanel(
    "portal",
    "Services under public URLs",
    (
        PanelKind(
            PortalExpose,
            columns("App", "Service", "Phase", "URL", "#Tunnels", "Relays"),
            expose_row,
        ),
        PanelKind(TunnelClass, columns("Size", "#Replicas"), class_row),
    ),
    (
        PanelPlot("portal-relays", "Connected relays"),
        PanelPlot("portal-visits", "Visits", "per second", series="portalexpose_visits_total"),
    ),
)
