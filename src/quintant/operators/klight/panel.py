"""klight on the console: its networks, and how many of their members answer. Pure."""

from __future__ import annotations

from quintant.operators.klight.api.lightnetwork import (
    LightNetwork,
    LightNetworkStatus,
    NetworkPeer,
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
    "Ready": "well", "Empty": "well", "Forming": "working", "Degraded": "broken",
    "Split": "broken",
}  # fmt: skip


USUAL = ("Up", "")
"""How a peer is that nothing is said of."""
MOST_PEERS = 8
"""Names in a cell; the network's own page has all."""


def network_row(network: LightNetwork) -> PanelRow:
    """A network of lightpeers."""
    status = network.status
    if status is None:
        return PanelRow("unknown", NO_STATUS, (network.spec.network_id, "", "", "", "", "", ""))
    state = PHASES.get(status.phase or "", "unknown")
    cells = (
        network.spec.network_id, text_of(status.phase), text_of(status.members),
        text_of(status.ready), text_of(status.pending), text_of(status.contact),
        _peers(status.peers),
    )  # fmt: skip
    figures = {"klight-members": float(status.members or 0)}
    return PanelRow(state, _sentence(status, state), cells, figures=figures)


def _peers(peers: tuple[NetworkPeer, ...]) -> str:
    """Who is in it, those in trouble first and with how they are."""
    ordered = sorted(peers, key=lambda each: (each.state in USUAL, each.pod))
    names = [
        each.pod if each.state in USUAL else f"{each.pod} ({each.state.lower()})"
        for each in ordered[:MOST_PEERS]
    ]
    left = len(peers) - len(names)
    return ", ".join(names) + (f" and {left} more" if left else "")


def _sentence(status: LightNetworkStatus, state: ObjectState) -> str:
    troubled = [each for each in status.peers if each.message]
    if state == "broken" and troubled:
        return f"{troubled[0].pod}: {troubled[0].message}"
    _, sentence = judge_conditions(status.conditions)
    if state == "well" and status.members:
        return f"all {status.members} members answer"
    return sentence


PANEL = SystemPanel(
    "klight",
    "networks of lightpeers",
    (
        PanelKind(
            LightNetwork,
            columns("Network", "Phase", "#Members", "#Ready", "#Pending", "Contact", "Peers"),
            network_row,
        ),
    ),
    (PanelPlot("klight-members", "Members of networks", "pods"),),
)
