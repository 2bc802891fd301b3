"""klight: joins pods labelled `klight.networkId` into networks of lightpeers.

The key of the controller is the network: a namespace and the label's value. See README.md for what
wakes it and what it does.
"""

from __future__ import annotations

import os

from quintant.operators.klight.api import GROUP, LightNetwork, PeerPod
from quintant.operators.klight.flags import from_environment
from quintant.operators.klight.lightnetwork.report import WORD, networks
from quintant.operators.klight.metrics import KlightMetrics
from quintant.operators.klight.observe.reader import Wiring
from quintant.operators.klight.options import Options
from quintant.operators.klight.reconcile import NetworkReconciler
from quintant.operators.klight.remote.peers import Peers
from quintant.runtime.controller import predicates as when
from quintant.runtime.manager.manager import Manager

TURN_SECONDS = 300.0
"""One turn joins for seconds; each call in it has a deadline of its own."""


def controllers(
    manager: Manager, options: Options | None = None, peers: Peers | None = None
) -> None:
    """Declare the controller of networks; its options are the environment's unless given."""
    options = options or from_environment(os.environ)
    wiring, metrics = Wiring(options), KlightMetrics()
    reconcile = NetworkReconciler(options, lambda: peers or _connected(), metrics)
    manager.add_collectors(*metrics.collectors())
    manager.serve_json(WORD, networks)
    (
        manager.keyed("klight")
        .watches(
            PeerPod,
            to=wiring.networks,
            when=when.changed(wiring.aspect),
            labels={options.label: ""},
            index=wiring.indexes,
        )
        .watches(
            LightNetwork,
            to=wiring.shown,
            when=when.generation | when.annotation(f"{GROUP}/*"),
        )
        .uses(PeerPod, "patch")
        .uses(PeerPod, "patch", sub="status")
        .uses(LightNetwork, "create", "delete")
        .uses(LightNetwork, "patch", sub="status")
        .workers(options.workers)
        .timeout(TURN_SECONDS)
        .reconcile(reconcile)
    )


def _connected() -> Peers:
    # Loaded by who speaks it: whoever only reads the declarations may be about to fork.
    from quintant.operators.klight.remote.grpc_peers import GrpcPeers

    return GrpcPeers()
